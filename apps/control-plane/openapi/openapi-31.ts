import type { OpenAPIObject } from '@nestjs/swagger';

type Json = null | boolean | number | string | readonly Json[] | { readonly [member: string]: Json };
type JsonObject = { readonly [member: string]: Json };

/** An OpenAPI document of version 3.1. */
export type Document31 = JsonObject & { readonly openapi: '3.1.0'; readonly paths: JsonObject };

const METHODS = ['get', 'put', 'post', 'delete', 'patch'];
const READING = new Set(['get', 'head', 'options']);

/**
 * Turns the document that the decorators give into one of version 3.1, whose schemas are JSON Schema: a member that may be null has a list of types, and
 * every operation that changes something says that it needs the session token.
 */
export function asOpenApi31(document: OpenAPIObject): Document31 {
  const { paths, ...rest } = plain(document);
  const described = schemasOf({ ...rest, openapi: '3.1.0', paths: paths! }) as Document31;
  return { ...described, paths: guarded(described.paths) };
}

/** Only what JSON can say, with members in the order of their names where order means nothing, so that equal documents are equal texts. */
function plain(document: OpenAPIObject): JsonObject {
  return JSON.parse(JSON.stringify(document)) as JsonObject;
}

function schemasOf(value: Json): Json {
  if (Array.isArray(value)) return (value as readonly Json[]).map(schemasOf);
  if (typeof value !== 'object' || value === null) return value;
  const members = Object.fromEntries(
    Object.entries(value as JsonObject).map(([name, member]) => [name, schemasOf(member)]),
  );
  if (members['nullable'] !== true) return members;
  const { nullable: _, ...schema } = members;
  return orNull(schema);
}

/** A schema that takes null besides. */
function orNull(schema: JsonObject): JsonObject {
  if (typeof schema['type'] === 'string') {
    const { enum: choices } = schema;
    const type = [schema['type'], 'null'];
    return Array.isArray(choices)
      ? { ...schema, type, enum: [...(choices as readonly Json[]), null] }
      : { ...schema, type };
  }
  const { description, ...reference } = schema;
  return { oneOf: [reference, { type: 'null' }], ...(description !== undefined && { description }) };
}

function guarded(paths: JsonObject): JsonObject {
  return mapObject(paths, (operations) =>
    mapObject(operations as JsonObject, (operation, method) =>
      METHODS.includes(method) && !READING.has(method)
        ? { ...(operation as JsonObject), security: [{ session: [] }], responses: withGuards(operation as JsonObject) }
        : operation,
    ),
  );
}

function withGuards(operation: JsonObject): JsonObject {
  const content = { 'application/json': { schema: { $ref: '#/components/schemas/GuardErrorDto' } } };
  return {
    ...(operation['responses'] as JsonObject),
    '403': { description: 'Without the session token', content },
    ...(operation['requestBody'] !== undefined && { '413': { description: 'The body is too large', content } }),
  };
}

function mapObject(object: JsonObject, map: (member: Json, name: string) => Json): JsonObject {
  return Object.fromEntries(Object.entries(object).map(([name, member]) => [name, map(member, name)]));
}
