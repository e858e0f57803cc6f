/**
 * The schemas that are components of the documents, by the names that generators make types of. A document registers them before any use,
 * because the first use would define the component otherwise, with the description that belongs to that use alone.
 */
import type { OpenAPIRegistry } from '@asteasolutions/zod-to-openapi';
import { z } from '../http/zod.ts';

const components = new Map<string, z.ZodType>();

type Metadata = NonNullable<Parameters<z.ZodType['openapi']>[1]>;

/** Names a schema, once: two shapes under one name are a bug. A name is no operation's with a suffix, which generators use themselves. */
export function component<Schema extends z.ZodType>(name: string, schema: Schema, metadata: Metadata = {}): Schema {
  if (components.has(name)) throw new Error(`two components have the name ${name}`);
  const named = schema.openapi(name, metadata);
  components.set(name, named);
  return named;
}

export function registerComponents(registry: OpenAPIRegistry): void {
  for (const [name, schema] of components) registry.register(name, schema);
}

/** A union, because the documents would write a named schema that is nullable as null wherever it is referenced. */
export function orNull<Schema extends z.ZodType>(schema: Schema) {
  return z.union([schema, z.null()]);
}
