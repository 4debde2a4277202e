import { ApiProperty } from '@nestjs/swagger';
import {
  WORKER_KINDS,
  WORKER_STATUSES,
  type DeviceSampleView,
  type RejectView,
  type WorkerDeviceView,
  type WorkerHistory,
  type WorkerList,
  type WorkerRow,
} from '@cdui/protocol';
import { NullableText, NullableTime, OpenObject, Time, Whole } from '../openapi/properties';

/** The answers of the routes on workers, as the OpenAPI document describes them; `libs/protocol/worker-view.ts` says what they mean. */
class WorkerSlotDto {
  @ApiProperty()
  worker!: string;

  @ApiProperty()
  device!: string;
}

class SlotUsageDto {
  @Whole()
  limit!: number;

  @Whole()
  used!: number;

  @NullableText('Whose limit applies, when it is another offerer’s of the same card.')
  limited_by!: string | null;
}

const NULLABLE_BYTES = { type: Number, nullable: true, description: 'Bytes; null where the system does not tell.' };

class WorkerDeviceDto implements WorkerDeviceView {
  @ApiProperty({ example: 'cuda:0' })
  device!: string;

  @ApiProperty()
  name!: string;

  @NullableText()
  uuid!: string | null;

  @ApiProperty(NULLABLE_BYTES)
  total_bytes!: number | null;

  @ApiProperty(NULLABLE_BYTES)
  free_bytes!: number | null;

  @ApiProperty({ type: Number, nullable: true, description: '0 to 100.' })
  utilization!: number | null;

  @ApiProperty({ description: 'Whether it admits runs by their memory.' })
  shared_by_memory!: boolean;

  @ApiProperty({ type: SlotUsageDto })
  slots!: SlotUsageDto;

  @ApiProperty({ type: [WorkerSlotDto], description: 'The other slots that are this physical device.' })
  same_card!: WorkerSlotDto[];
}

class RejectDto implements RejectView {
  @ApiProperty()
  code!: string;

  @ApiProperty()
  reason!: string;

  @OpenObject()
  params!: Record<string, unknown>;
}

class RejectedNameDto extends RejectDto {
  @ApiProperty()
  name!: string;
}

export class WorkerRowDto implements WorkerRow {
  @ApiProperty()
  id!: string;

  @ApiProperty()
  name!: string;

  @ApiProperty({ enum: WORKER_KINDS, enumName: 'WorkerKind' })
  kind!: WorkerRow['kind'];

  @ApiProperty({ enum: WORKER_STATUSES, enumName: 'WorkerStatus' })
  status!: WorkerRow['status'];

  @ApiProperty({ description: 'It takes no new runs; those it has go on.' })
  draining!: boolean;

  @ApiProperty({ description: 'Whether its node types differ from the server’s.' })
  degraded!: boolean;

  @ApiProperty({ type: [String] })
  missing_types!: string[];

  @ApiProperty({ type: [String] })
  extra_types!: string[];

  @ApiProperty({ type: [String] })
  changed_types!: string[];

  @NullableText()
  version!: string | null;

  @ApiProperty({ type: 'integer', nullable: true })
  protocol_version!: number | null;

  @NullableText()
  platform!: string | null;

  @ApiProperty({ type: [String] })
  capabilities!: string[];

  @ApiProperty({ type: [WorkerDeviceDto] })
  devices!: WorkerDeviceDto[];

  @ApiProperty({ type: [String] })
  mounts!: string[];

  @ApiProperty({ type: [String], description: 'Ids of the runs that it has.' })
  running!: string[];

  @NullableText()
  fingerprint_digest!: string | null;

  @NullableText()
  catalog_hash!: string | null;

  @NullableTime()
  connected_at!: string | null;

  @NullableTime()
  last_seen_at!: string | null;

  @ApiProperty({ type: RejectDto, nullable: true })
  last_reject!: RejectDto | null;

  @NullableText()
  address!: string | null;
}

export class WorkerListDto implements WorkerList {
  @ApiProperty({ type: [WorkerRowDto] })
  workers!: WorkerRowDto[];

  @ApiProperty({ type: [RejectedNameDto], description: 'The last refusal of each name that is no worker’s.' })
  rejected!: RejectedNameDto[];
}

class DeviceSampleDto implements DeviceSampleView {
  @Time()
  at!: string;

  @ApiProperty(NULLABLE_BYTES)
  free_bytes!: number | null;

  @ApiProperty({ type: Number, nullable: true, description: '0 to 100.' })
  utilization!: number | null;
}

class DeviceHistoryDto {
  @ApiProperty()
  device!: string;

  @ApiProperty({ type: [DeviceSampleDto] })
  samples!: DeviceSampleDto[];
}

export class WorkerHistoryDto implements WorkerHistory {
  @ApiProperty()
  id!: string;

  @ApiProperty({ type: [DeviceHistoryDto] })
  devices!: DeviceHistoryDto[];
}
