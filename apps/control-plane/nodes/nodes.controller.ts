import { Controller, Get, Param } from '@nestjs/common';
import { CodedError, type NodeDefinition } from '@cdui/protocol';
import { CatalogClient } from '../catalog-thread/catalog.client';

@Controller('nodes')
export class NodesController {
  constructor(private readonly catalog: CatalogClient) {}

  @Get()
  async list(): Promise<readonly NodeDefinition[]> {
    return (await this.catalog.call('catalogue')).definitions;
  }

  @Get(':name')
  async one(@Param('name') name: string): Promise<NodeDefinition> {
    const definition = (await this.list()).find((candidate) => candidate.node_name === name);
    if (definition) return definition;
    throw new CodedError('node_not_found', `There is no node type "${name}": GET /api/nodes lists all of them`, {
      name,
    });
  }
}
