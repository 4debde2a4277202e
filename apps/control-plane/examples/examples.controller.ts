import { Controller, Get, Query } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiProperty, ApiQuery, ApiTags } from '@nestjs/swagger';
import { CodedError } from '@cdui/protocol';
import { NOT_FOUND, Refuses, SHAPE } from '../openapi/errors.dto';
import { Whole } from '../openapi/properties';
import { type Example, ExampleFolder } from './example-folder';

class ExampleDto implements Example {
  @ApiProperty()
  name!: string;

  @ApiProperty()
  description!: string;

  @ApiProperty({ description: 'The folder it lies in; empty for the folder of examples itself.' })
  category!: string;

  @ApiProperty({ description: 'What `load` takes.' })
  path!: string;

  @ApiProperty({ enum: ['builtin'] })
  source!: 'builtin';

  @Whole()
  node_count!: number;

  @Whole()
  edge_count!: number;
}

@ApiTags('graphs')
@Controller('examples')
export class ExamplesController {
  constructor(private readonly examples: ExampleFolder) {}

  @Get('list')
  @ApiOperation({ summary: 'The example graphs of this program' })
  @ApiOkResponse({ type: [ExampleDto] })
  list(): Promise<readonly Example[]> {
    return this.examples.list();
  }

  @Get('load')
  @ApiOperation({ summary: 'One of them' })
  @ApiQuery({ name: 'path', schema: { type: 'string' } })
  @ApiOkResponse({ schema: { type: 'object', additionalProperties: true } })
  @Refuses(NOT_FOUND, SHAPE)
  load(@Query('path') path: unknown): Promise<unknown> {
    if (typeof path === 'string' && path !== '') return this.examples.load(path);
    throw new CodedError('invalid_query', 'path must name an example, as the list does', { field: 'path' });
  }
}
