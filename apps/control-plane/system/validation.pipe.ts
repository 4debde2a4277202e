import { type ArgumentMetadata, ValidationPipe } from '@nestjs/common';
import type { ValidationError } from 'class-validator';
import { type FieldProblem, RequestShapeError } from './error.filter';

/** Checks query parameters against the decorators of their class; what does not fit is answered with 422, every field by name. */
export function queryValidation(): ValidationPipe {
  return new QueryValidation({
    transform: true,
    whitelist: true,
    transformOptions: { exposeDefaultValues: true },
    exceptionFactory: (errors: ValidationError[]) => new RequestShapeError(errors.flatMap(problemsOf)),
  });
}

/** Brackets have no meaning here: without this, `status[]=failed` would be one of the unknown parameters, which are ignored. */
class QueryValidation extends ValidationPipe {
  override transform(value: unknown, metadata: ArgumentMetadata): Promise<unknown> {
    const bracketed =
      metadata.type === 'query' ? Object.entries(value ?? {}).filter(([name]) => name.includes('[')) : [];
    if (bracketed.length === 0) return super.transform(value, metadata);
    const problems = bracketed.map(([name, given]) => ({
      loc: ['query', name.slice(0, name.indexOf('['))],
      msg: `${name.slice(0, 100)} must be written without brackets (it is ${textOf(given)})`,
      type: 'brackets',
    }));
    return Promise.reject(new RequestShapeError(problems));
  }
}

function problemsOf({ property, value, constraints = {} }: ValidationError): FieldProblem[] {
  const given = value === undefined ? 'missing' : textOf(value);
  return Object.entries(constraints).map(([type, message]) => ({
    loc: ['query', property],
    msg: `${message} (it is ${given})`,
    type,
  }));
}

/** What was given, so that it is recognized: parameters that are repeated or written with brackets are lists and objects. */
function textOf(value: unknown): string {
  return (JSON.stringify(value) ?? String(value)).slice(0, 102);
}
