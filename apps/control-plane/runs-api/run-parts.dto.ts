import { ApiProperty } from '@nestjs/swagger';
import {
  RUN_STATUSES,
  type ArtifactView,
  type LogMatch,
  type LogSearch,
  type MetricView,
  type RunArtifacts,
  type RunEventsPage,
  type RunEventView,
  type RunMetrics,
  type RunStatus,
} from '@cdui/protocol';
import { NullableObject, NullableText, OpenObject, Time, Whole } from '../openapi/properties';

/** What a run leaves behind: its events, metrics, artifacts and console log. */
export class RunEventDto implements RunEventView {
  @Whole('From 1, without gaps.')
  cursor!: number;

  @ApiProperty({ example: 'node_status' })
  type!: string;

  @NullableObject()
  payload!: Record<string, unknown> | null;

  @Time()
  ts!: string;
}

export class RunEventsDto implements RunEventsPage {
  @ApiProperty()
  run_id!: string;

  @ApiProperty({ enum: RUN_STATUSES, enumName: 'RunStatus' })
  status!: RunStatus;

  @ApiProperty()
  active!: boolean;

  @ApiProperty({ type: [RunEventDto] })
  events!: RunEventDto[];

  @Whole('Where to go on reading.')
  cursor!: number;
}

export class MetricDto implements MetricView {
  @ApiProperty()
  node_id!: string;

  @ApiProperty()
  name!: string;

  @Whole()
  step!: number;

  @ApiProperty({ type: Number, nullable: true, description: 'Null when the value was not finite.' })
  value!: number | null;

  @Time()
  ts!: string;
}

export class RunMetricsDto implements RunMetrics {
  @ApiProperty()
  run_id!: string;

  @ApiProperty({ type: [String] })
  names!: string[];

  @ApiProperty({ type: [MetricDto] })
  metrics!: MetricDto[];
}

export class ArtifactDto implements ArtifactView {
  @ApiProperty()
  id!: string;

  @ApiProperty()
  kind!: string;

  @ApiProperty()
  path!: string;

  @OpenObject()
  meta!: Record<string, unknown>;

  @ApiProperty()
  node_id!: string;

  @ApiProperty({ enum: ['local', 'mount', 'transfer', 's3'] })
  backend!: ArtifactView['backend'];

  @NullableText()
  mount_label!: string | null;

  @Time()
  created_at!: string;
}

export class RunArtifactsDto implements RunArtifacts {
  @ApiProperty()
  run_id!: string;

  @ApiProperty({ type: [ArtifactDto] })
  artifacts!: ArtifactDto[];
}

export class LogMatchDto implements LogMatch {
  @Whole('Byte offset of the line.')
  offset!: number;

  @Whole('From 1.')
  line!: number;

  @ApiProperty()
  text!: string;
}

export class LogSearchDto implements LogSearch {
  @ApiProperty()
  run_id!: string;

  @ApiProperty({ type: [LogMatchDto] })
  matches!: LogMatchDto[];

  @ApiProperty({ description: 'Whether there are more than were asked for.' })
  truncated!: boolean;
}
