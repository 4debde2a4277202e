import { Controller, Get, HttpCode, Param, Post } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { CodedError, type NodeDefinition } from '@cdui/protocol';
import { CatalogClient } from '../catalog-thread/catalog.client';
import { NOT_FOUND, Refuses } from '../openapi/errors.dto';
import { NameParam } from '../openapi/params';
import { NodeDto, ReloadedDto } from './node.dto';

@ApiTags('catalogue')
@Controller('nodes')
export class NodesController {
  constructor(private readonly catalog: CatalogClient) {}

  @Get()
  @ApiOperation({ summary: 'Every node type' })
  @ApiOkResponse({ type: [NodeDto] })
  async list(): Promise<readonly NodeDefinition[]> {
    return (await this.catalog.call('catalogue')).definitions;
  }

  @Post('reload')
  @HttpCode(200)
  @ApiOperation({ summary: 'Load the folders of custom nodes and presets again' })
  @ApiOkResponse({ type: ReloadedDto })
  async reload(): Promise<ReloadedDto> {
    const { definitions, presets, hash, broken } = await this.catalog.call('reload');
    return {
      nodes_loaded: definitions.length,
      presets_loaded: presets.length,
      catalog_hash: hash,
      broken: [...broken],
    };
  }

  @Get(':name')
  @ApiOperation({ summary: 'One node type' })
  @NameParam('The node type.')
  @ApiOkResponse({ type: NodeDto })
  @Refuses(NOT_FOUND)
  async one(@Param('name') name: string): Promise<NodeDefinition> {
    const definition = (await this.list()).find((candidate) => candidate.node_name === name);
    if (definition) return definition;
    throw new CodedError('node_not_found', `There is no node type "${name}": the list of nodes has them all`, {
      name,
    });
  }
}
