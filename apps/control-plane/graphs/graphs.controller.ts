import { join } from 'node:path';
import { Body, Controller, Delete, Get, HttpCode, Inject, Param, Post } from '@nestjs/common';
import { ApiBody, ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import type { ValidationResult } from '@cdui/protocol';
import { SETTINGS, type Settings } from '../config/settings';
import { CONFLICT, NO_STORAGE, NOT_FOUND, REFUSED, Refuses, SHAPE } from '../openapi/errors.dto';
import { NameParam } from '../openapi/params';
import { GraphFolder } from './graph-folder';
import { graphRequest, renameRequest } from './graph-requests';
import {
  GraphBody,
  GraphDeletedDto,
  ListedGraphDto,
  RenameBody,
  SaveBody,
  SaveResultDto,
  ValidationDto,
} from './graphs.dto';
import { GraphsService } from './graphs.service';
import type { SavedGraph } from './named-files';

@ApiTags('graphs')
@Controller('graph')
export class GraphsController {
  constructor(
    private readonly graphs: GraphsService,
    private readonly folder: GraphFolder,
    @Inject(SETTINGS) private readonly settings: Settings,
  ) {}

  @Post('validate')
  @HttpCode(200)
  @ApiOperation({
    summary: 'Check a graph',
    description: 'The whole of it, drafts included. What is wrong is the answer, not an error.',
  })
  @ApiBody({ type: GraphBody })
  @ApiOkResponse({ type: ValidationDto })
  @Refuses(SHAPE)
  validate(@Body() body: unknown): Promise<ValidationResult> {
    return this.graphs.validate(graphRequest(body));
  }

  @Post('save')
  @HttpCode(200)
  @ApiOperation({
    summary: 'Save a graph',
    description: 'Secret params are saved blank. 409 `graph_exists` unless `overwrite` is true.',
  })
  @ApiBody({ type: SaveBody })
  @ApiOkResponse({ type: SaveResultDto })
  @Refuses(REFUSED, CONFLICT, SHAPE, NO_STORAGE)
  async save(@Body() body: unknown): Promise<SaveResultDto> {
    return this.saved(await this.graphs.save(graphRequest(body)));
  }

  @Get('list')
  @ApiOperation({ summary: 'The saved graphs' })
  @ApiOkResponse({ type: [ListedGraphDto] })
  @Refuses(NO_STORAGE)
  list(): Promise<readonly SavedGraph[]> {
    return this.folder.list();
  }

  @Get('load/:name')
  @ApiOperation({ summary: 'One saved graph' })
  @NameParam('The graph’s name.')
  @ApiOkResponse({ schema: { type: 'object', additionalProperties: true } })
  @Refuses(REFUSED, NOT_FOUND, NO_STORAGE)
  load(@Param('name') name: string): Promise<unknown> {
    return this.folder.load(name);
  }

  @Post('rename')
  @HttpCode(200)
  @ApiOperation({ summary: 'Rename a graph' })
  @ApiBody({ type: RenameBody })
  @ApiOkResponse({ type: SaveResultDto })
  @Refuses(REFUSED, NOT_FOUND, CONFLICT, SHAPE, NO_STORAGE)
  async rename(@Body() body: unknown): Promise<SaveResultDto> {
    return this.saved(await this.graphs.rename(renameRequest(body)));
  }

  @Delete(':name')
  @ApiOperation({ summary: 'Delete a graph' })
  @NameParam('The graph’s name.')
  @ApiOkResponse({ type: GraphDeletedDto })
  @Refuses(REFUSED, NOT_FOUND, NO_STORAGE)
  async delete(@Param('name') name: string): Promise<GraphDeletedDto> {
    await this.folder.delete(name);
    return { name, deleted: true };
  }

  private saved({ problem: _, ...graph }: SavedGraph): SaveResultDto {
    return { ...graph, message: `Saved as ${graph.file}`, path: join(this.settings.graphsDir, graph.file) };
  }
}
