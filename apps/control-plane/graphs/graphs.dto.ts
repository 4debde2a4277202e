import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { ISSUE_CODES, type GraphIssue, type ValidationResult } from '@cdui/protocol';
import { NullableText, OpenObject, Time } from '../openapi/properties';

const GRAPH = 'A graph file. It may be the whole body as well.';

export class GraphBody {
  @OpenObject(GRAPH)
  graph!: Record<string, unknown>;
}

export class SaveBody extends GraphBody {
  @ApiPropertyOptional({ maxLength: 128, description: 'The graph’s own name, when it is left out.' })
  name?: string;

  @ApiPropertyOptional({ default: false, description: 'Whether it may take the place of another graph.' })
  overwrite?: boolean;
}

export class RenameBody {
  @ApiProperty()
  from!: string;

  @ApiProperty({ maxLength: 128 })
  to!: string;

  @ApiPropertyOptional({ default: false })
  overwrite?: boolean;
}

export class GraphIssueDto implements GraphIssue {
  @ApiProperty()
  message!: string;

  @ApiProperty({ enum: ISSUE_CODES, enumName: 'IssueCode' })
  code!: GraphIssue['code'];

  @NullableText('Null when it belongs to no single node.')
  node_id!: string | null;

  @OpenObject()
  params!: Record<string, unknown>;
}

export class ValidationDto implements ValidationResult {
  @ApiProperty()
  valid!: boolean;

  @ApiProperty({ type: [String], description: 'The messages of the issues.' })
  errors!: string[];

  @ApiProperty({ type: [GraphIssueDto] })
  issues!: GraphIssueDto[];

  @ApiProperty({ type: [GraphIssueDto] })
  warnings!: GraphIssueDto[];
}

export class SavedGraphDto {
  @ApiProperty()
  name!: string;

  @ApiProperty({ description: 'In the folder of graphs.' })
  file!: string;

  @Time()
  modified!: string;
}

export class ListedGraphDto extends SavedGraphDto {
  @NullableText('Why it cannot be loaded, when it cannot.')
  problem!: string | null;
}

export class SaveResultDto extends SavedGraphDto {
  @ApiProperty()
  message!: string;

  @ApiProperty({ description: 'The file’s full path on the server.' })
  path!: string;
}

export class GraphDeletedDto {
  @ApiProperty()
  name!: string;

  @ApiProperty({ enum: [true] })
  deleted!: true;
}
