import { ValidationPipe } from '@nestjs/common';
import type { ValidationError } from 'class-validator';
import { type FieldProblem, RequestShapeError } from './error.filter';

/** Checks query parameters against the decorators of their class; what does not fit is answered with 422, every field by name. */
export function queryValidation(): ValidationPipe {
  return new ValidationPipe({
    transform: true,
    whitelist: true,
    transformOptions: { exposeDefaultValues: true },
    exceptionFactory: (errors: ValidationError[]) => new RequestShapeError(errors.flatMap(problemsOf)),
  });
}

function problemsOf({ property, value, constraints = {} }: ValidationError): FieldProblem[] {
  const given = typeof value === 'string' ? `"${value.slice(0, 100)}"` : String(value);
  return Object.entries(constraints).map(([type, message]) => ({
    loc: ['query', property],
    msg: `${message} (it is ${given})`,
    type,
  }));
}
