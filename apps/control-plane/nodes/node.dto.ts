import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import {
  PARAM_TYPES,
  PORT_TYPES,
  type NodeDefinition,
  type ParamDefinition,
  type ParamType,
  type PortDefinition,
  type PortType,
  type PresetDefinition,
} from '@cdui/protocol';
import { NullableObject } from '../openapi/properties';

/** The catalogue, as the OpenAPI document describes it; `libs/protocol` says what it means. */
export class PortDto implements PortDefinition {
  @ApiProperty()
  name!: string;

  @ApiProperty({ enum: PORT_TYPES, enumName: 'PortType' })
  data_type!: PortType;

  @ApiProperty()
  description!: string;

  @ApiProperty({ description: 'Whether the node runs without it.' })
  optional!: boolean;
}

export class ParamDto implements ParamDefinition {
  @ApiProperty()
  name!: string;

  @ApiProperty({ enum: PARAM_TYPES, enumName: 'ParamType' })
  param_type!: ParamType;

  @ApiProperty({ type: Object, description: 'Any JSON value.' })
  default!: unknown;

  @ApiProperty()
  description!: string;

  @ApiProperty({ type: [String] })
  options!: string[];

  @ApiProperty({ type: Number, nullable: true })
  min_value!: number | null;

  @ApiProperty({ type: Number, nullable: true })
  max_value!: number | null;

  @NullableObject('The values of a sibling for which the param is shown.')
  visible_when!: Record<string, unknown> | null;

  @ApiProperty()
  advanced!: boolean;
}

export class NodeDto implements NodeDefinition {
  @ApiProperty()
  node_name!: string;

  @ApiProperty()
  category!: string;

  @ApiProperty()
  description!: string;

  @ApiProperty({ type: [PortDto] })
  inputs!: PortDto[];

  @ApiProperty({ type: [PortDto] })
  outputs!: PortDto[];

  @ApiProperty({ type: [ParamDto] })
  params!: ParamDto[];

  @ApiProperty({ description: '`builtin`, or the file it comes from.' })
  provider!: string;
}

export class BrokenFileDto {
  @ApiProperty()
  file!: string;

  @ApiProperty()
  message!: string;
}

export class ReloadedDto {
  @ApiProperty({ type: 'integer' })
  nodes_loaded!: number;

  @ApiProperty({ type: 'integer' })
  presets_loaded!: number;

  @ApiProperty({ description: 'Differs when any definition does.' })
  catalog_hash!: string;

  @ApiProperty({ type: [BrokenFileDto], description: 'Files that could not be used.' })
  broken!: BrokenFileDto[];
}

export class PresetDto {
  @ApiProperty()
  preset_name!: string;

  @ApiPropertyOptional()
  category?: string;

  @ApiPropertyOptional()
  description?: string;

  @ApiPropertyOptional({ type: [String] })
  tags?: string[];

  @OpenObjects()
  nodes!: PresetDefinition['nodes'];

  @OpenObjects()
  edges!: PresetDefinition['edges'];

  @OpenObjects()
  exposed_inputs!: PresetDefinition['exposed_inputs'];

  @OpenObjects()
  exposed_outputs!: PresetDefinition['exposed_outputs'];

  @OpenObjects()
  exposed_params!: PresetDefinition['exposed_params'];
}

function OpenObjects(): PropertyDecorator {
  return ApiProperty({ type: 'array', items: { type: 'object', additionalProperties: true } });
}
