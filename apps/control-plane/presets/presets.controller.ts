import { Controller, Get, Param } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { CodedError, type PresetDefinition } from '@cdui/protocol';
import { CatalogClient } from '../catalog-thread/catalog.client';
import { PresetDto } from '../nodes/node.dto';
import { NOT_FOUND, Refuses } from '../openapi/errors.dto';
import { NameParam } from '../openapi/params';

@ApiTags('catalogue')
@Controller('presets')
export class PresetsController {
  constructor(private readonly catalog: CatalogClient) {}

  @Get()
  @ApiOperation({ summary: 'Every preset' })
  @ApiOkResponse({ type: [PresetDto] })
  async list(): Promise<readonly PresetDefinition[]> {
    return (await this.catalog.call('catalogue')).presets;
  }

  @Get(':name')
  @ApiOperation({ summary: 'One preset' })
  @NameParam('The preset’s name.')
  @ApiOkResponse({ type: PresetDto })
  @Refuses(NOT_FOUND)
  async one(@Param('name') name: string): Promise<PresetDefinition> {
    const preset = (await this.list()).find((candidate) => candidate.preset_name === name);
    if (preset) return preset;
    throw new CodedError('preset_not_found', `There is no preset "${name}": the list of presets has them all`, {
      name,
    });
  }
}
