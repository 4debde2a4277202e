import { ApiProperty } from '@nestjs/swagger';

/** Shorthands for members that recur in answers. */

/** A text that may be null. */
export const NullableText = (description?: string): PropertyDecorator =>
  ApiProperty({ type: String, nullable: true, ...(description !== undefined && { description }) });

/** A point in time, ISO 8601 in UTC. */
export const Time = (): PropertyDecorator => ApiProperty({ type: String, format: 'date-time' });
export const NullableTime = (): PropertyDecorator => ApiProperty({ type: String, format: 'date-time', nullable: true });

export const Whole = (description?: string): PropertyDecorator =>
  ApiProperty({ type: 'integer', ...(description !== undefined && { description }) });

/** An object with members that this document does not list. */
export const OpenObject = (description?: string): PropertyDecorator =>
  ApiProperty({ type: 'object', additionalProperties: true, ...(description !== undefined && { description }) });
export const NullableObject = (description?: string): PropertyDecorator =>
  ApiProperty({
    type: 'object',
    additionalProperties: true,
    nullable: true,
    ...(description !== undefined && { description }),
  });
