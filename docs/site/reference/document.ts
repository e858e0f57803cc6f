/** The parts of an OpenAPI 3.1 document that the reference shows. */
import { parse } from 'yaml';

export interface Schema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly format?: string;
  readonly description?: string;
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly items?: Schema;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly allOf?: readonly Schema[];
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minimum?: number;
  readonly maximum?: number;
}

export interface Parameter {
  readonly $ref?: string;
  readonly name: string;
  readonly in: 'path' | 'query' | 'header' | 'cookie';
  readonly required?: boolean;
  readonly description?: string;
  readonly example?: unknown;
  readonly schema?: Schema & { readonly example?: unknown };
}

export interface Example {
  readonly summary?: string;
  readonly value: unknown;
}

/** The body of a request or a response. */
export interface BodyDescription {
  readonly $ref?: string;
  readonly description?: string;
  readonly content?: Readonly<
    Record<
      string,
      { readonly schema?: Schema; readonly example?: unknown; readonly examples?: Record<string, Example> }
    >
  >;
}

export interface Operation {
  readonly operationId: string;
  readonly summary?: string;
  readonly description?: string;
  readonly deprecated?: boolean;
  readonly security?: readonly object[];
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: BodyDescription;
  readonly responses: Readonly<Record<string, BodyDescription>>;
}

export interface OpenApi {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly webhooks: Readonly<Record<string, { readonly post: Operation }>>;
  readonly components: unknown;
}

export interface Route {
  /** For example `post`. */
  readonly method: string;
  /** For example `/v1/attempts`. */
  readonly path: string;
  readonly operation: Operation;
}

const METHODS = ['get', 'post', 'put', 'patch', 'delete'];

export function parseDocument(yaml: string): OpenApi {
  return parse(yaml, { maxAliasCount: -1 });
}

/** The routes, with the references of each operation resolved. Schemas keep their references. */
export function routesOf(document: OpenApi): readonly Route[] {
  return Object.entries(document.paths).flatMap(([path, item]) =>
    Object.entries(item).flatMap(([method, operation]) =>
      METHODS.includes(method) ? [{ method, path, operation: withoutReferences(document, operation) }] : [],
    ),
  );
}

/** The events by their types. */
export function eventsOf(document: OpenApi): readonly (readonly [type: string, operation: Operation])[] {
  return Object.entries(document.webhooks).map(([type, { post }]) => [type, withoutReferences(document, post)]);
}

function withoutReferences(document: OpenApi, operation: Operation): Operation {
  const { parameters = [], requestBody, responses } = operation;
  return {
    ...operation,
    parameters: parameters.map((parameter) => resolve(document, parameter)),
    ...(requestBody !== undefined && { requestBody: resolve(document, requestBody) }),
    responses: Object.fromEntries(
      Object.entries(responses).map(([status, response]) => [status, resolve(document, response)]),
    ),
  };
}

/** The JSON of a body, with its examples by name. */
export function jsonOf(
  body: BodyDescription | undefined,
): { schema: Schema; examples: readonly [string, Example][] } | undefined {
  const json = body?.content?.['application/json'];
  if (json?.schema === undefined) return undefined;
  const single: [string, Example][] = json.example === undefined ? [] : [['example', { value: json.example }]];
  return { schema: json.schema, examples: [...single, ...Object.entries(json.examples ?? {})] };
}

/** The object that a local `$ref` names. */
export function resolve<T extends { readonly $ref?: string }>(document: OpenApi, given: T): T {
  if (given.$ref === undefined) return given;
  const names = given.$ref.replace(/^#\//, '').split('/');
  const found = names.reduce<unknown>((node, name) => (node as Record<string, unknown> | undefined)?.[name], document);
  if (found === undefined) throw new Error(`the OpenAPI document has no ${given.$ref}`);
  return resolve(document, found as T);
}
