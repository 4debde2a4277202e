import { Controller, Get, Header } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiProperty, ApiTags } from '@nestjs/swagger';
import { SessionToken } from './session-token';

class Bootstrap {
  @ApiProperty({ description: 'Goes into the header X-CodefyUI-Token of requests that change something.' })
  token!: string;
}

@ApiTags('auth')
@Controller('auth')
export class AuthController {
  constructor(private readonly session: SessionToken) {}

  @Get('bootstrap')
  @Header('Cache-Control', 'no-store')
  @ApiOperation({ summary: 'The session token', description: 'For pages of this server only; new at every start.' })
  @ApiOkResponse({ type: Bootstrap })
  bootstrap(): Bootstrap {
    return { token: this.session.value };
  }
}
