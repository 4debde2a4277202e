import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';

/** What `POST /api/runs` takes, for the document only: `checkSubmission` of `libs/protocol` checks it, many times faster than decorators. */
export class TargetDto {
  @ApiPropertyOptional({ description: '`local`, `any`, or the name of a worker.' })
  worker?: string;

  @ApiPropertyOptional({ type: [String], example: ['cpu'] })
  devices?: string[];

  @ApiPropertyOptional({ enum: ['one-shot'] })
  pool?: string;

  @ApiPropertyOptional({ type: 'number', minimum: 0 })
  memory_gib?: number;

  @ApiPropertyOptional({ enum: ['user', 'suggested'] })
  memory_source?: string;

  @ApiPropertyOptional({ default: true })
  wait?: boolean;
}

export class RunOptionsDto {
  @ApiPropertyOptional({ pattern: '^(cpu|auto|cuda(:\\d+)?|mps(:\\d+)?)$', description: '`auto` means cpu.' })
  device?: string;

  @ApiPropertyOptional({ type: 'integer', nullable: true, minimum: 0, maximum: 4294967295 })
  seed?: number | null;

  @ApiPropertyOptional({ default: false })
  deterministic?: boolean;

  @ApiPropertyOptional({ default: false })
  record_outputs?: boolean;

  @ApiPropertyOptional({
    default: 'queued',
    maxLength: 64,
    description: '`queued`, or `interactive`: the lane of the canvas.',
  })
  lane?: string;

  @ApiPropertyOptional({ default: false })
  verbose?: boolean;

  @ApiPropertyOptional({ default: false })
  backward_mode?: boolean;

  @ApiPropertyOptional({ default: false })
  auto_backward?: boolean;

  @ApiPropertyOptional({ default: false })
  weights_persistent?: boolean;

  @ApiPropertyOptional({ default: '', maxLength: 128, description: 'Names the persistent weights.' })
  graph_id?: string;

  @ApiPropertyOptional({ enum: ['fail_fast', 'continue', 'retry'], default: 'fail_fast' })
  error_mode?: string;

  @ApiPropertyOptional({ type: 'integer', minimum: 0, maximum: 10, default: 0 })
  max_retries?: number;

  @ApiPropertyOptional({
    type: 'integer',
    minimum: -1000,
    maximum: 1000,
    default: 0,
    description: 'Of the runs in a queue those with a higher number start first.',
  })
  priority?: number;

  @ApiPropertyOptional({ type: TargetDto })
  target?: TargetDto;

  @ApiPropertyOptional({ default: false, description: 'Records where the outputs of each node come from.' })
  provenance?: boolean;
}

export class SubmissionDto {
  @ApiProperty({ type: 'object', additionalProperties: true, description: 'A graph file with at least one node.' })
  graph!: Record<string, unknown>;

  @ApiPropertyOptional({ type: RunOptionsDto, description: 'Unknown options are refused.' })
  options?: RunOptionsDto;

  @ApiPropertyOptional({ maxLength: 64, description: 'The graph’s own name, when it is left out.' })
  name?: string;
}
