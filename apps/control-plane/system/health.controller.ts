import { randomUUID } from 'node:crypto';
import { Controller, Get } from '@nestjs/common';
import { CatalogClient } from '../catalog-thread/catalog.client';
import { version } from '../config/version';

@Controller('health')
export class HealthController {
  /** New at each start: a client that sees another one knows that the server was restarted. */
  private readonly bootId = randomUUID();

  constructor(private readonly catalog: CatalogClient) {}

  @Get()
  async health(): Promise<Record<string, unknown>> {
    const { definitions, presets } = await this.catalog.call('catalogue');
    return {
      status: 'ok',
      version: version(),
      boot_id: this.bootId,
      nodes_loaded: definitions.length,
      presets_loaded: presets.length,
    };
  }
}
