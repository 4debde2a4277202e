import { applyDecorators } from '@nestjs/common';
import { Transform } from 'class-transformer';
import { buildMessage, ValidateBy } from 'class-validator';

/** A query parameter that counts: decimal digits and nothing else, given once, within its bounds. What is wrong is one problem. */
export function WholeNumber(min: number, max: number): PropertyDecorator {
  return numberField(
    /^\d{1,16}$/,
    min,
    max,
    'wholeNumber',
    `must be a whole number between ${min} and ${max} in decimal digits, given once`,
  );
}

/** A query parameter in seconds, with decimals or without, given once, from 0 on. */
export function Seconds(max: number): PropertyDecorator {
  return numberField(
    /^\d{1,16}(?:\.\d{1,16})?$/,
    0,
    max,
    'seconds',
    `must be a number of seconds between 0 and ${max}, given once`,
  );
}

function numberField(form: RegExp, min: number, max: number, name: string, message: string): PropertyDecorator {
  return applyDecorators(
    // What is no number stays as it was given, so that the answer can show it.
    Transform(({ value }: { value: unknown }) =>
      typeof value === 'string' && form.test(value) ? Number(value) : value,
    ),
    ValidateBy({
      name,
      validator: {
        validate: (value: unknown) => typeof value === 'number' && value >= min && value <= max,
        defaultMessage: buildMessage((each) => `${each}$property ${message}`),
      },
    }),
  );
}
