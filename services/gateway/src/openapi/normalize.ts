/**
 * Rewrites the generated documents into the forms that generators of clients read best: a reference
 * has its description beside it instead of inside an `allOf`, a single allowed value is a `const`,
 * and every component is used.
 */
import type { OpenApiGeneratorV31 } from '@asteasolutions/zod-to-openapi';
import { shareResponses } from './shared-responses.ts';

export type OpenApiDocument = ReturnType<OpenApiGeneratorV31['generateDocument']>;

type Json = null | boolean | number | string | Json[] | { [name: string]: Json };
type JsonObject = { [name: string]: Json };

const SCHEMAS = '#/components/schemas/';

/** `kept` names the unreferenced components that stay. */
export function normalizeDocument(document: OpenApiDocument, kept: readonly string[] = []): OpenApiDocument {
  const plain = JSON.parse(JSON.stringify(document)) as JsonObject & { components: JsonObject; paths: JsonObject };
  const { components, ...rest } = normalized(plain) as typeof plain;
  const responses = shareResponses(rest.paths as unknown as Parameters<typeof shareResponses>[0]) as JsonObject;
  const { schemas, ...others } = {
    ...components,
    parameters: withOwnSchemas(components.parameters as JsonObject, components.schemas as JsonObject),
    responses,
    headers: referencedHeaders(components.headers as JsonObject, [rest, responses]),
  } as unknown as { schemas: JsonObject } & JsonObject;
  const used = reachable([rest, others, ...kept.map((name): Json => ({ $ref: SCHEMAS + name }))], schemas);
  const named = Object.entries(schemas)
    .filter(([name]) => used.has(name))
    .sort(([one], [other]) => (one < other ? -1 : 1));
  const filled = Object.entries(others).filter(([, members]) => Object.keys(members as JsonObject).length > 0);
  return {
    ...rest,
    components: { ...Object.fromEntries(filled), schemas: Object.fromEntries(named) },
  } as unknown as OpenApiDocument;
}

function normalized(value: Json): Json {
  if (Array.isArray(value)) return value.map(normalized);
  if (typeof value !== 'object' || value === null) return value;
  const members = Object.fromEntries(Object.entries(value).map(([name, member]) => [name, normalized(member)]));
  return withConst(withReference(withoutType(members)));
}

/** Removes the type of a union: the components of the union state their types. */
function withoutType({ type, ...schema }: JsonObject): JsonObject {
  return type === undefined || Array.isArray(schema.oneOf) ? schema : { type, ...schema };
}

/**
 * `{allOf: [{$ref}, {description}]}` becomes a reference with a description. If the second member
 * also allows null, the result is a choice of the reference and null: the `allOf` would not allow
 * null.
 */
function withReference(schema: JsonObject): JsonObject {
  const [reference, added, ...more] = Array.isArray(schema.allOf) ? (schema.allOf as JsonObject[]) : [];
  if (reference?.$ref === undefined || added === undefined || more.length > 0 || added.properties !== undefined) {
    return schema;
  }
  const { allOf: _, ...rest } = schema;
  const isNullable = Array.isArray(added.type) && added.type.includes('null');
  const { description, default: byDefault } = added;
  return {
    ...(isNullable ? { anyOf: [{ $ref: reference.$ref }, { type: 'null' }] } : { $ref: reference.$ref }),
    ...(description !== undefined && { description }),
    ...(byDefault !== undefined && { default: byDefault }),
    ...rest,
  };
}

function withConst(schema: JsonObject): JsonObject {
  if (!Array.isArray(schema.enum) || schema.enum.length !== 1) return schema;
  const {
    enum: [only],
    ...rest
  } = schema as { enum: Json[] } & JsonObject;
  return { ...rest, const: only ?? null };
}

/**
 * Writes the schema of a shared parameter into the parameter: otherwise a parameter and a component
 * schema would have the same name.
 */
function withOwnSchemas(parameters: JsonObject, schemas: JsonObject): JsonObject {
  return Object.fromEntries(
    Object.entries(parameters as Record<string, JsonObject>).map(([name, parameter]) => [
      name,
      { ...parameter, schema: schemas[name] ?? parameter.schema ?? {} },
    ]),
  );
}

function referencedHeaders(headers: JsonObject, users: readonly Json[]): JsonObject {
  const text = JSON.stringify(users);
  return Object.fromEntries(
    Object.entries(headers).filter(([name]) => text.includes(`"#/components/headers/${name}"`)),
  );
}

/** The names of the schemas that these values refer to, directly or through other schemas. */
function reachable(from: readonly Json[], schemas: JsonObject): ReadonlySet<string> {
  const found = new Set<string>();
  const pending = [...from];
  for (let value = pending.pop(); value !== undefined; value = pending.pop()) {
    for (const [, name = ''] of JSON.stringify(value).matchAll(/"#\/components\/schemas\/([^"]+)"/g)) {
      const schema = schemas[name];
      if (found.has(name) || schema === undefined) continue;
      found.add(name);
      pending.push(schema);
    }
  }
  return found;
}
