import { ApiParam } from '@nestjs/swagger';

/** The id of a run in a path. */
export const RunIdParam = (): MethodDecorator =>
  ApiParam({ name: 'id', description: 'The run’s id: 32 hexadecimal digits.', schema: { type: 'string' } });

/** A name in a path. */
export const NameParam = (description: string): MethodDecorator =>
  ApiParam({ name: 'name', description, schema: { type: 'string' } });
