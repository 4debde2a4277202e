import { availableParallelism, cpus } from 'node:os';
import { Controller, Get } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiProperty, ApiTags } from '@nestjs/swagger';

class Device {
  @ApiProperty({ example: 'cpu' })
  value!: string;

  @ApiProperty()
  label!: string;

  @ApiProperty()
  detail!: string;

  @ApiProperty()
  available!: boolean;
}

class Devices {
  @ApiProperty({ description: 'What a run uses whose graph and options name none.' })
  default!: string;

  @ApiProperty({ type: [Device] })
  devices!: Device[];
}

const NOT_SERVED = 'The embedded runtime computes on the processor only';

@ApiTags('system')
@Controller('system')
export class DevicesController {
  @Get('devices')
  @ApiOperation({ summary: 'Where runs can compute on this machine' })
  @ApiOkResponse({ type: Devices })
  list(): Devices {
    const detail = `${cpus()[0]?.model.trim() ?? 'processor'}, ${availableParallelism()} threads`;
    return {
      default: 'cpu',
      devices: [
        { value: 'cpu', label: 'CPU', detail, available: true },
        { value: 'cuda', label: 'NVIDIA GPU', detail: NOT_SERVED, available: false },
        { value: 'mps', label: 'Apple GPU', detail: NOT_SERVED, available: false },
      ],
    };
  }
}
