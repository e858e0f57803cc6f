/**
 * Writes `src/api-types.ts` from the OpenAPI document of the partner API, and from that of the
 * service's own routes for the sandbox: `npm run sdk-types`. From the second document it also
 * writes the types of the developer portal and of the operator's pages,
 * `apps/portal/src/api/api-types.ts`.
 *
 * - Every schema that a request or a successful response can have becomes a type of the same name.
 *   Failures are `LaurelError`s, so only their codes are written.
 * - What a partner sends has closed enumerations, so that the compiler finds a typing error.
 *   Responses have open ones: a value that Laurel adds later must not break a partner who compiled
 *   before. An enumeration of one value is a constant. The pages of apps/portal are released with
 *   their routes, so all their enumerations are closed.
 * - Each alternative of a request excludes the members of the others.
 * - A keyword that this script does not know is an error, because a type without it would be wrong
 *   unnoticed.
 */
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { isDeepStrictEqual } from 'node:util';
import { parse } from 'yaml';

interface Schema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: boolean | Schema;
  readonly items?: Schema;
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly allOf?: readonly Schema[];
  readonly description?: string;
}

interface Media {
  readonly content?: Readonly<Record<string, { readonly schema?: Schema }>>;
}

interface Operation {
  readonly requestBody?: Media;
  readonly responses?: Readonly<Record<string, Media>>;
}

interface Document {
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> };
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly webhooks?: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
}

const PARTNER_DOCUMENT = 'docs/openapi/partner-v1.yaml';
const OWN_DOCUMENT = 'docs/openapi/portal-api.yaml';
/** The SDK calls only these routes of that document. */
const SANDBOX = '/api/sandbox/';
const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const OUTPUT = fileURLToPath(new URL('src/api-types.ts', import.meta.url));
/** The routes that the pages of apps/portal call, and the file for the types of these routes. */
const PAGES = ['/api/portal/', '/api/operator/'];
const PAGES_OUTPUT = `${ROOT}apps/portal/src/api/api-types.ts`;
const COMMENT_WIDTH = 116;
/** The component that all refusals share. */
const ERROR_CODE = 'ErrorCode';
/** The union of all events, a component to which no operation refers. */
const EVERY_EVENT = '#/components/schemas/WebhookEvent';

const RENDERED = ['$ref', 'type', 'enum', 'const', 'properties', 'required', 'additionalProperties', 'items'];
const COMBINED = ['anyOf', 'oneOf', 'allOf', 'description'];
/** These keywords narrow values further than a TypeScript type can. */
const UNTYPED = [
  ...['format', 'pattern', 'minLength', 'maxLength', 'minItems', 'maxItems'],
  ...['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum'],
];
const INFORMATIVE = ['example', 'examples', 'title', 'default', 'deprecated', 'readOnly', 'writeOnly', 'discriminator'];
const KNOWN = new Set([...RENDERED, ...COMBINED, ...UNTYPED, ...INFORMATIVE]);

const partner = readDocument(PARTNER_DOCUMENT);
const own = readDocument(OWN_DOCUMENT);
const sandbox = ownPathsBelow(SANDBOX);
/** If both documents have a schema of the same name, the partner API's is used. */
const schemas = { ...partner.components.schemas, ...own.components.schemas, ...partner.components.schemas };

function writeSdkTypes(): void {
  const operations = [partner.paths, partner.webhooks ?? {}, sandbox].flatMap(operationsOf);
  // The document has a webhook's body as a request, but a partner reads it.
  const received = operationsOf(partner.webhooks ?? {});
  const read = reachableFrom([
    ...operations.flatMap(answersOf),
    ...received.flatMap(({ requestBody }) => schemasOf(requestBody)),
    { $ref: EVERY_EVENT },
  ]);
  const sent = reachableFrom(operations.flatMap(({ requestBody }) => schemasOf(requestBody)));
  checkShared(operationsOf(sandbox));
  write(OUTPUT, [PARTNER_DOCUMENT, OWN_DOCUMENT], partner, sent, read);
}

function writePagesTypes(): void {
  const operations = PAGES.map(ownPathsBelow).flatMap(operationsOf);
  checkShared(operations);
  const bodies = operations.flatMap(({ requestBody }) => schemasOf(requestBody));
  const used = reachableFrom([...operations.flatMap(answersOf), ...bodies]);
  write(PAGES_OUTPUT, [OWN_DOCUMENT], own, used, new Set());
}

/** Writes the named components as types. The components in `open` get open enumerations. */
function write(
  output: string,
  documents: readonly string[],
  { components }: Document,
  closed: ReadonlySet<string>,
  open: ReadonlySet<string>,
): void {
  const types = Object.entries(schemas)
    .filter(([name]) => open.has(name) || closed.has(name))
    .map(
      ([name, schema]) =>
        `${comment(schema.description)}export type ${name} = ${render(schema, open.has(name) && schema.enum === undefined)};`,
    );
  const header = `// Derived from ${documents.join(' and ')} by \`npm run sdk-types\`. Do not edit.\n`;
  // Failures have only their codes: a closed set.
  const codes = components.schemas[ERROR_CODE] ?? {};
  const errorCode = `${comment(codes.description)}export type ${ERROR_CODE} = ${render(codes, false)};`;
  writeFileSync(output, format([header, errorCode, ...types].join('\n\n'), output));
}

function ownPathsBelow(prefix: string): Document['paths'] {
  return Object.fromEntries(Object.entries(own.paths).filter(([path]) => path.startsWith(prefix)));
}

function readDocument(path: string): Document {
  return parse(readFileSync(ROOT + path, 'utf8')) as Document;
}

function operationsOf(paths: Document['paths']): readonly Operation[] {
  return Object.values(paths).flatMap(Object.values<Operation>);
}

/** The bodies of an operation's successful responses. */
function answersOf({ responses = {} }: Operation): readonly Schema[] {
  return Object.entries(responses).flatMap(([status, media]) => (status.startsWith('2') ? schemasOf(media) : []));
}

function schemasOf(media: Media | undefined): readonly Schema[] {
  return Object.values(media?.content ?? {}).flatMap(({ schema }) => (schema === undefined ? [] : [schema]));
}

/** A schema in both documents becomes one type, so both must define it alike. */
function checkShared(operations: readonly Operation[]): void {
  const used = reachableFrom(
    operations.flatMap((operation) => [...answersOf(operation), ...schemasOf(operation.requestBody)]),
  );
  for (const name of used) {
    const twin = own.components.schemas[name];
    if (!isDeepStrictEqual(twin, schemas[name])) {
      throw new Error(`The schema ${name} differs between ${PARTNER_DOCUMENT} and ${OWN_DOCUMENT}.`);
    }
  }
}

/** The names of all components that a schema refers to, directly or not. */
function reachableFrom(roots: readonly Schema[], found = new Set<string>()): Set<string> {
  for (const root of roots) {
    if (root.$ref !== undefined) {
      const name = nameOf(root.$ref);
      if (!found.has(name)) reachableFrom([componentOf(name)], found.add(name));
    }
    const { properties = {}, additionalProperties, items, anyOf = [], oneOf = [], allOf = [] } = root;
    reachableFrom([...Object.values(properties), ...anyOf, ...oneOf, ...allOf], found);
    if (items !== undefined) reachableFrom([items], found);
    if (typeof additionalProperties === 'object') reachableFrom([additionalProperties], found);
  }
  return found;
}

function componentOf(name: string): Schema {
  const schema = schemas[name];
  if (schema === undefined) throw new Error(`A document refers to the schema ${name}, which it does not have.`);
  return schema;
}

function nameOf(reference: string): string {
  return reference.replace('#/components/schemas/', '');
}

function render(schema: Schema, open: boolean): string {
  const unknown = Object.keys(schema).filter((keyword) => !KNOWN.has(keyword));
  if (unknown.length > 0)
    throw new Error(`A document uses ${unknown}, which libs/sdk/generate-types.ts does not know.`);
  if (schema.$ref !== undefined) return renderReference(nameOf(schema.$ref), open);
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  if (schema.enum !== undefined)
    return union(schema.enum.map((value) => JSON.stringify(value)).concat(others(schema, open)));
  const alternatives = (schema.anyOf ?? schema.oneOf)?.map((part) => renderAlternative(part, schema, open));
  const own = schema.type === undefined && schema.properties === undefined ? [] : [renderTypes(schema, open)];
  const parts = [...own, ...(schema.allOf ?? []).map((part) => render(part, open))];
  if (alternatives !== undefined) parts.push(parts.length === 0 ? union(alternatives) : `(${union(alternatives)})`);
  return parts.length === 0 ? 'unknown' : parts.join(' & ');
}

function renderReference(name: string, open: boolean): string {
  return union([name, ...others(componentOf(name), open)]);
}

/** What an enumeration may contain in addition to its values. */
function others({ enum: values = [] }: Schema, open: boolean): readonly string[] {
  return open && values.filter((value) => value !== null).length > 1 ? ['(string & {})'] : [];
}

/**
 * Renders an alternative. `{required: [name]}` beside shared properties means that this member is
 * present, and that the members that the other alternatives require are absent.
 */
function renderAlternative(part: Schema, whole: Schema, open: boolean): string {
  if (part.$ref !== undefined && whole.oneOf !== undefined && !open) return excludeOthers(part, whole);
  if (Object.keys(part).join() !== 'required') return render(part, open);
  const others = (whole.oneOf ?? []).flatMap(({ required = [] }) => required);
  const absent = others.filter((name) => !part.required?.includes(name)).map((name) => `${name}?: never;`);
  const present = Object.entries(whole.properties ?? {}).filter(([name]) => part.required?.includes(name));
  return `{\n${[...present.map(([name, schema]) => member(name, schema, true, open)), ...absent].join('\n')}\n}`;
}

/** One of several components: `ChallengeAttemptRequest & { tournament_round_id?: never }`. */
function excludeOthers(part: Schema, whole: Schema): string {
  const membersOf = ({ $ref = '' }: Schema) => Object.keys(componentOf(nameOf($ref)).properties ?? {});
  const own = new Set(membersOf(part));
  const foreign = new Set((whole.oneOf ?? []).filter(({ $ref }) => $ref !== undefined).flatMap(membersOf));
  const absent = [...foreign].filter((name) => !own.has(name)).map((name) => `${name}?: never;`);
  const name = nameOf(part.$ref ?? '');
  return absent.length === 0 ? name : `(${name} & { ${absent.join(' ')} })`;
}

function renderTypes(schema: Schema, open: boolean): string {
  const types = [schema.type ?? 'object'].flat();
  return union(types.map((type) => renderType(type, schema, open)));
}

function renderType(type: string, schema: Schema, open: boolean): string {
  if (type === 'array') return `Array<${render(schema.items ?? {}, open)}>`;
  if (type === 'integer') return 'number';
  if (type !== 'object') return type;
  const chosen = new Set((schema.oneOf ?? []).flatMap(({ required = [] }) => required));
  const members = Object.entries(schema.properties ?? {})
    .filter(([name]) => !chosen.has(name))
    .map(([name, property]) => member(name, property, schema.required?.includes(name) ?? false, open));
  const { additionalProperties: others } = schema;
  if (members.length > 0) return `{\n${members.join('\n')}\n}`;
  return `Record<string, ${typeof others === 'object' ? render(others, open) : 'unknown'}>`;
}

function member(name: string, schema: Schema, required: boolean, open: boolean): string {
  const type = render(schema, open);
  return `${comment(schema.description)}${name}${required ? '' : '?'}: ${type}${required ? '' : ' | undefined'};`;
}

function union(types: readonly string[]): string {
  return types.join(' | ');
}

function comment(description: string | undefined): string {
  if (description === undefined) return '';
  if (description.length + 8 <= COMMENT_WIDTH && !description.includes('\n')) return `/** ${description} */\n`;
  const lines = description.split('\n').flatMap((line) => wrap(line));
  return `/**\n${lines.map((line) => ` * ${line}`.trimEnd()).join('\n')}\n */\n`;
}

function wrap(text: string): readonly string[] {
  const lines = [''];
  for (const word of text.split(' ')) {
    const line = lines.at(-1) ?? '';
    if (line !== '' && line.length + 1 + word.length > COMMENT_WIDTH) lines.push(word);
    else lines[lines.length - 1] = line === '' ? word : `${line} ${word}`;
  }
  return lines;
}

function format(source: string, path: string): string {
  const biome = `${ROOT}node_modules/.bin/biome`;
  return execFileSync(biome, ['check', '--write', `--stdin-file-path=${path}`], {
    cwd: ROOT,
    input: source,
    encoding: 'utf8',
  });
}

writeSdkTypes();
writePagesTypes();
