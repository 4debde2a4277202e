import { RUN_STATUSES, type RunStatus } from '@cdui/protocol';
import { ApiPropertyOptional } from '@nestjs/swagger';
import { Transform } from 'class-transformer';
import { ArrayMaxSize, IsIn, IsOptional, IsString, Length, MaxLength } from 'class-validator';
import { Seconds, WholeNumber } from './query-numbers';

/** Cursors, offsets and steps are whole numbers that JavaScript counts exactly. */
const MOST = Number.MAX_SAFE_INTEGER;
const SORTS = ['created_at', 'started_at', 'finished_at', 'name', 'status'] as const;

/** Query parameters of the routes on runs, checked before a handler sees them. */
export class RunListQuery {
  @ApiPropertyOptional({
    enum: RUN_STATUSES,
    enumName: 'RunStatus',
    isArray: true,
    description: 'May be given more than once.',
  })
  @IsOptional()
  @Transform(({ value }: { value: unknown }) => (Array.isArray(value) ? (value as unknown[]) : [value]))
  @ArrayMaxSize(RUN_STATUSES.length)
  @IsIn(RUN_STATUSES, { each: true })
  status?: RunStatus[];

  @ApiPropertyOptional({ maxLength: 200, description: 'Part of the name or of the id.' })
  @IsOptional()
  @IsString()
  @MaxLength(200)
  q?: string;

  @ApiPropertyOptional({ maxLength: 200 })
  @IsOptional()
  @IsString()
  @MaxLength(200)
  worker?: string;

  @ApiPropertyOptional({ maxLength: 64 })
  @IsOptional()
  @IsString()
  @MaxLength(64)
  sweep_id?: string;

  @ApiPropertyOptional({ enum: SORTS, default: 'created_at' })
  @IsOptional()
  @IsIn(SORTS)
  sort?: (typeof SORTS)[number];

  @ApiPropertyOptional({ enum: ['asc', 'desc'], default: 'desc' })
  @IsOptional()
  @IsIn(['asc', 'desc'])
  order?: 'asc' | 'desc';

  @ApiPropertyOptional({ type: 'integer', minimum: 1, maximum: 500, default: 50 })
  @WholeNumber(1, 500)
  limit: number = 50;

  @ApiPropertyOptional({ type: 'integer', minimum: 0, default: 0 })
  @WholeNumber(0, MOST)
  offset: number = 0;
}

export class EventsQuery {
  @ApiPropertyOptional({ type: 'integer', minimum: 0, default: 0, description: 'Events after this one.' })
  @WholeNumber(0, MOST)
  cursor: number = 0;

  @ApiPropertyOptional({ minimum: 0, maximum: 60, default: 0, description: 'Seconds to wait for the first event.' })
  @Seconds(60)
  wait: number = 0;

  @ApiPropertyOptional({ type: 'integer', minimum: 1, maximum: 2000, default: 500 })
  @WholeNumber(1, 2000)
  limit: number = 500;
}

export class MetricsQuery {
  @ApiPropertyOptional({ maxLength: 500, description: 'One metric only.' })
  @IsOptional()
  @IsString()
  @MaxLength(500)
  name?: string;

  @ApiPropertyOptional({ enum: ['json', 'csv'], default: 'json' })
  @IsIn(['json', 'csv'])
  format: 'json' | 'csv' = 'json';
}

export class ArtifactsQuery {
  @ApiPropertyOptional({ maxLength: 200, description: 'One kind only.' })
  @IsOptional()
  @IsString()
  @MaxLength(200)
  kind?: string;
}

/** Bytes of a console log that one answer carries at most: a client that wants more asks again. */
export const MAX_LOG_BYTES = 4 * 1024 * 1024;

export class LogQuery {
  @ApiPropertyOptional({ type: 'integer', minimum: 0, default: 0, description: 'In bytes, from the start.' })
  @WholeNumber(0, MOST)
  offset: number = 0;

  @ApiPropertyOptional({
    type: 'integer',
    minimum: 1,
    maximum: MAX_LOG_BYTES,
    default: 1024 * 1024,
    description: 'In bytes.',
  })
  @WholeNumber(1, MAX_LOG_BYTES)
  limit: number = 1024 * 1024;

  @ApiPropertyOptional({
    minimum: 0,
    maximum: 60,
    default: 0,
    description: 'Seconds to wait for a byte beyond the offset.',
  })
  @Seconds(60)
  wait: number = 0;
}

export class LogSearchQuery {
  @ApiPropertyOptional({ required: true, minLength: 1, maxLength: 200 })
  @Length(1, 200, { message: 'q must be the text to look for, of 1 to 200 characters' })
  q!: string;

  @ApiPropertyOptional({ type: 'integer', minimum: 1, maximum: 1000, default: 100 })
  @WholeNumber(1, 1000)
  limit: number = 100;
}
