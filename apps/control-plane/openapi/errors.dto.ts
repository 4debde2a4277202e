import { applyDecorators } from '@nestjs/common';
import { ApiExtraModels, ApiProperty, ApiResponse, getSchemaPath } from '@nestjs/swagger';

class ErrorDetailDto {
  @ApiProperty({ description: 'For programs.', example: 'run_not_found' })
  code!: string;

  @ApiProperty({ description: 'For people, in English.' })
  message!: string;

  @ApiProperty({ type: 'object', additionalProperties: true, description: 'The values that the message speaks of.' })
  details!: Record<string, unknown>;
}

/** What a request gets that was understood but could not be met. */
export class ErrorDto {
  @ApiProperty({ type: ErrorDetailDto })
  detail!: ErrorDetailDto;
}

class FieldProblemDto {
  @ApiProperty({
    type: 'array',
    items: { oneOf: [{ type: 'string' }, { type: 'integer' }] },
    description: 'Where the field is: `body` or `query`, then its path.',
  })
  loc!: (string | number)[];

  @ApiProperty()
  msg!: string;

  @ApiProperty()
  type!: string;
}

/** What a request gets whose form is wrong: each field by name. */
export class ShapeErrorDto {
  @ApiProperty({ type: [FieldProblemDto] })
  detail!: FieldProblemDto[];
}

/** What the guards answer, before a request is looked at. */
export class GuardErrorDto {
  @ApiProperty()
  detail!: string;
}

interface Refusal {
  readonly status: number;
  readonly description: string;
  readonly type: typeof ErrorDto | typeof ShapeErrorDto;
}

export const REFUSED: Refusal = { status: 400, description: 'It can never be done as asked', type: ErrorDto };
export const NOT_FOUND: Refusal = { status: 404, description: 'There is none', type: ErrorDto };
export const CONFLICT: Refusal = { status: 409, description: 'Not in its present state', type: ErrorDto };
export const SHAPE: Refusal = { status: 422, description: 'The form of the request is wrong', type: ShapeErrorDto };
export const NO_STORAGE: Refusal = {
  status: 503,
  description: 'It cannot be stored, or the server stops',
  type: ErrorDto,
};

/** The ways in which an operation may be refused. */
export function Refuses(...refusals: readonly Refusal[]): MethodDecorator {
  return applyDecorators(
    ApiExtraModels(ErrorDto, ShapeErrorDto, GuardErrorDto),
    ...refusals.map(({ status, description, type }) => ApiResponse({ status, description, type })),
  );
}

export const GUARD_ERROR_REF = (): string => getSchemaPath(GuardErrorDto);
