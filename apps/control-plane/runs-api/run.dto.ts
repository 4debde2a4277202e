import { ApiProperty } from '@nestjs/swagger';
import {
  RUN_STATUSES,
  type FinalMetric,
  type RunCancelled,
  type RunDeleted,
  type RunDetail,
  type RunList,
  RunMoved,
  type RunRow,
  type RunStatus,
  type RunSubmitted,
} from '@cdui/protocol';
import { NullableObject, NullableText, NullableTime, OpenObject, Time, Whole } from '../openapi/properties';

/** The answers of the routes on runs, as the OpenAPI document describes them; `libs/protocol/run-view.ts` says what they mean. */
export class FinalMetricDto implements FinalMetric {
  @ApiProperty()
  node_id!: string;

  @ApiProperty()
  name!: string;

  @Whole()
  step!: number;

  @ApiProperty({ type: Number, nullable: true, description: 'Null when the value was not finite.' })
  value!: number | null;
}

export class RunRowDto implements RunRow {
  @ApiProperty({ description: '32 hexadecimal digits.' })
  id!: string;

  @ApiProperty()
  name!: string;

  @OpenObject('As submitted, with the defaults filled in.')
  options!: Record<string, unknown>;

  @ApiProperty({ enum: RUN_STATUSES, enumName: 'RunStatus' })
  status!: RunStatus;

  @NullableText()
  error!: string | null;

  @ApiProperty()
  queue_key!: string;

  @Time()
  created_at!: string;

  @NullableTime()
  started_at!: string | null;

  @NullableTime()
  finished_at!: string | null;

  @NullableText()
  git_commit!: string | null;

  @ApiProperty({ type: Boolean, nullable: true })
  git_dirty!: boolean | null;

  @ApiProperty({ type: 'object', additionalProperties: { type: 'string' }, nullable: true })
  plugin_pins!: Record<string, string> | null;

  @NullableText()
  sweep_id!: string | null;

  @ApiProperty({ type: 'integer', nullable: true })
  sweep_variant!: number | null;

  @NullableText('The run of which this one is a repetition.')
  retry_of!: string | null;

  @NullableText()
  worker_id!: string | null;

  @ApiProperty({ type: [String], nullable: true })
  devices!: string[] | null;

  @NullableObject()
  execution_facts!: Record<string, unknown> | null;

  @NullableText()
  fingerprint_digest!: string | null;

  @ApiProperty({ type: 'integer', nullable: true, description: 'From 1, among the runs with its queue key.' })
  queue_position!: number | null;

  @NullableText('Why it waits, when it is for more than a busy slot.')
  queue_reason!: string | null;

  @NullableText()
  queue_reason_code!: string | null;

  @NullableObject()
  queue_reason_params!: Record<string, unknown> | null;

  @ApiProperty({ description: 'Whether the server still works on it.' })
  active!: boolean;

  @ApiProperty({ type: [FinalMetricDto], description: 'The last value of each metric.' })
  final_metrics!: FinalMetricDto[];
}

export class RunDetailDto extends RunRowDto implements RunDetail {
  @OpenObject('The graph file as submitted, secret parameters blank.')
  graph!: Record<string, unknown>;

  @Whole('The cursor of the newest event; 0 when there is none.')
  last_cursor!: number;
}

export class RunListDto implements RunList {
  @ApiProperty({ type: [RunRowDto] })
  runs!: RunRowDto[];

  @Whole('How many runs match, on all pages.')
  total!: number;

  @Whole()
  limit!: number;

  @Whole()
  offset!: number;
}

export class RunSubmittedDto implements RunSubmitted {
  @ApiProperty()
  run_id!: string;

  @ApiProperty({ enum: RUN_STATUSES, enumName: 'RunStatus' })
  status!: RunStatus;
}

export class RunCancelledDto extends RunSubmittedDto implements RunCancelled {
  @ApiProperty({ description: 'Whether this request is why it stops.' })
  cancelled!: boolean;
}

export class RunMovedDto implements RunMoved {
  @ApiProperty()
  run_id!: string;

  @ApiProperty({ type: 'integer', nullable: true, description: 'From 1; null when it has just begun to execute.' })
  queue_position!: number | null;
}

export class MoveDto {
  @ApiProperty({
    oneOf: [{ type: 'string' }, { type: 'integer', minimum: 1 }],
    description: 'The id of the run in the same queue that it shall stand before, or a position in the queue.',
  })
  before!: string | number;
}

export class RunDeletedDto implements RunDeleted {
  @ApiProperty()
  run_id!: string;

  @ApiProperty({ enum: [true] })
  deleted!: true;
}
