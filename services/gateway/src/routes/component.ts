/**
 * The schemas that are components of the documents, by the names that generators turn into types. A
 * document registers them before any use: otherwise the first use would define the component, with
 * a description that fits only that use.
 */
import type { OpenAPIRegistry } from '@asteasolutions/zod-to-openapi';
import { z } from '../http/zod.ts';

const components = new Map<string, z.ZodType>();

type Metadata = NonNullable<Parameters<z.ZodType['openapi']>[1]>;

/**
 * Names a schema, once: two shapes under one name are a bug. A name must not be an operation's name
 * with a suffix, because generators make such names themselves.
 */
export function component<Schema extends z.ZodType>(name: string, schema: Schema, metadata: Metadata = {}): Schema {
  if (components.has(name)) throw new Error(`two components have the name ${name}`);
  const named = schema.openapi(name, metadata);
  components.set(name, named);
  return named;
}

export function registerComponents(registry: OpenAPIRegistry): void {
  for (const [name, schema] of components) registry.register(name, schema);
}

/**
 * The schema or null, as a union. If a named schema itself were nullable, the documents would allow
 * null at every reference to it.
 */
export function orNull<Schema extends z.ZodType>(schema: Schema) {
  return z.union([schema, z.null()]);
}
