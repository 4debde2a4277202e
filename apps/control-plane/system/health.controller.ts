import { Controller, Get, Header, Inject } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiProperty, ApiTags } from '@nestjs/swagger';
import type { RunStore } from '@cdui/execution';
import { CodedError } from '@cdui/protocol';
import { Database } from '../database/database';
import { NO_STORAGE, Refuses } from '../openapi/errors.dto';
import { RUN_STORE } from '../tokens';
import { CatalogClient } from '../catalog-thread/catalog.client';
import { Boot } from './boot';

class Health {
  @ApiProperty({ enum: ['ok', 'stopping'] })
  status!: 'ok' | 'stopping';

  @ApiProperty()
  version!: string;

  @ApiProperty({ description: 'New at each start of the server.' })
  boot_id!: string;

  @ApiProperty({ type: 'integer' })
  nodes_loaded!: number;

  @ApiProperty({ type: 'integer' })
  presets_loaded!: number;

  @ApiProperty({ type: 'integer', description: 'Files of the custom-node folder that cannot be used.' })
  broken_nodes!: number;
}

class Alive {
  @ApiProperty({ enum: ['ok'] })
  status!: 'ok';
}

@ApiTags('system')
@Controller('health')
export class HealthController {
  constructor(
    private readonly catalog: CatalogClient,
    private readonly boot: Boot,
    @Inject(RUN_STORE) private readonly store: RunStore,
    private readonly database: Database,
  ) {}

  @Get()
  @Header('Cache-Control', 'no-store')
  @ApiOperation({ summary: 'How the server is' })
  @ApiOkResponse({ type: Health })
  async read(): Promise<Health> {
    const { definitions, presets, broken } = await this.catalog.call('catalogue');
    return {
      status: this.boot.stopping ? 'stopping' : 'ok',
      version: this.boot.version,
      boot_id: this.boot.id,
      nodes_loaded: definitions.length,
      presets_loaded: presets.length,
      broken_nodes: new Set(broken.map(({ file }) => file)).size,
    };
  }

  @Get('live')
  @ApiOperation({ summary: 'Liveness', description: 'Answers as long as the event loop turns.' })
  @ApiOkResponse({ type: Alive })
  live(): Alive {
    return { status: 'ok' };
  }

  @Get('ready')
  @ApiOperation({
    summary: 'Readiness',
    description:
      '503 while the node catalogue or the database does not answer, after a write that the database could not take (a full disk) until one succeeds, or while the server stops.',
  })
  @ApiOkResponse({ type: Alive })
  @Refuses(NO_STORAGE)
  async ready(): Promise<Alive> {
    if (this.boot.stopping) throw new CodedError('server_draining', 'The server is stopping and takes no more work');
    await Promise.all([this.catalog.call('catalogue'), this.store.lastQueueSeq()]);
    if (this.database.failure !== null) throw this.database.failure;
    return { status: 'ok' };
  }
}
