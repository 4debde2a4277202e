import { Controller, Get, Param } from '@nestjs/common';
import { CodedError, type PresetDefinition } from '@cdui/protocol';
import { CatalogClient } from '../catalog-thread/catalog.client';

@Controller('presets')
export class PresetsController {
  constructor(private readonly catalog: CatalogClient) {}

  @Get()
  async list(): Promise<readonly PresetDefinition[]> {
    return (await this.catalog.call('catalogue')).presets;
  }

  @Get(':name')
  async one(@Param('name') name: string): Promise<PresetDefinition> {
    const preset = (await this.list()).find((candidate) => candidate.preset_name === name);
    if (preset) return preset;
    throw new CodedError('preset_not_found', `There is no preset "${name}": GET /api/presets lists all of them`, {
      name,
    });
  }
}
