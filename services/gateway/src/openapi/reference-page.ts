/** The reference page: plain HTML rendered from the OpenAPI document, with nothing fetched from elsewhere. */
import type { OpenApiDocument } from './polish.ts';

interface Schema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly format?: string;
  readonly description?: string;
  readonly enum?: readonly unknown[];
  readonly items?: Schema;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly allOf?: readonly Schema[];
  readonly minLength?: number;
  readonly maxLength?: number;
}

interface Content {
  readonly content?: { readonly 'application/json'?: { readonly schema?: Schema } };
}

interface Parameter {
  readonly name: string;
  readonly in: string;
  readonly required?: boolean;
  readonly schema?: Schema;
  readonly description?: string;
}

interface Operation {
  readonly operationId: string;
  readonly summary?: string;
  readonly description?: string;
  readonly deprecated?: boolean;
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: Content;
  readonly responses: Readonly<Record<string, Content & { readonly description: string }>>;
}

/** The style sheet of the reference and of the guide. */
export const STYLE = `
:root { color-scheme: light dark; --line: color-mix(in srgb, currentColor 18%, transparent); }
body { font: 16px/1.55 system-ui, sans-serif; margin: 0 auto; max-width: 60rem; padding: 2rem 1.25rem 6rem; }
h1 { font-size: 1.7rem; margin-bottom: 0; } h2 { margin-top: 3.5rem; font-size: 1.2rem; } h3 { font-size: 1rem; margin: 1.6rem 0 .4rem; }
code { font: .92em ui-monospace, monospace; } nav ul { list-style: none; padding: 0; } nav a { text-decoration: none; }
.method { display: inline-block; min-width: 3.2rem; font-weight: 700; } .muted { opacity: .7; } .retired { text-decoration: line-through; }
table { border-collapse: collapse; width: 100%; } th, td { border-bottom: 1px solid var(--line); padding: .35rem .8rem .35rem 0; text-align: left; vertical-align: top; }
th { font-weight: 600; } td:first-child { white-space: nowrap; } td ul { margin: 0; padding-left: 1.1rem; }
.guide td:first-child { white-space: normal; } pre { border: 1px solid var(--line); overflow-x: auto; padding: .8rem 1rem; }
`;

export function referencePage(served: OpenApiDocument): string {
  const document = withSharedPartsInPlace(served);
  const operations = Object.entries(document.paths ?? {}).flatMap(([path, item]) =>
    Object.entries(item as Record<string, Operation>).map(([method, operation]) => ({ path, method, operation })),
  );
  const webhooks = Object.entries((document.webhooks ?? {}) as Record<string, { post: Operation }>).map(
    ([type, { post }]) => ({ type, operation: post }),
  );
  const schemas = (document.components?.schemas ?? {}) as Record<string, Schema>;
  const links = operations.map(
    ({ path, method, operation }) =>
      `<li><a href="#${escapeHtml(operation.operationId)}"><code>${heading(method, path, operation)}</code></a></li>`,
  );
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>${escapeHtml(document.info.title)}</title><style>${STYLE}</style></head><body>
<h1>${escapeHtml(document.info.title)}</h1><p class="muted">Version ${escapeHtml(document.info.version)}</p>
${(document.info.description ?? '')
  .split('\n\n')
  .map((paragraph) => `<p>${prose(paragraph)}</p>`)
  .join('\n')}
<p>In reading order, with a partner's first hour: <a href="/docs/guide">the guide</a>. The same as a document for machines: <a href="/openapi.json"><code>/openapi.json</code></a>.</p>
<nav><ul>${links.join('')}<li><a href="#webhooks">Webhooks</a></li></ul></nav>
${operations.map(({ path, method, operation }) => section(path, method, operation)).join('\n')}
<h2 id="webhooks">Webhooks</h2>
${webhooks.map(({ type, operation }, index) => webhookSection(type, operation, index)).join('\n')}
<h2>Shapes</h2>
${Object.entries(schemas)
  .map(([name, schema]) => `<h3 id="shape-${escapeHtml(name)}">${escapeHtml(name)}</h3>${fields(schema)}`)
  .join('\n')}
</body></html>`;
}

/** What operations share, in the place of each reference to it; schemas stay references. */
function withSharedPartsInPlace(document: OpenApiDocument): OpenApiDocument {
  const components = document.components as Record<string, Record<string, unknown> | undefined> | undefined;
  return JSON.parse(JSON.stringify(document), (_name, value: { $ref?: string } | null) => {
    const [, kind = '', name = ''] = /^#\/components\/(responses|parameters)\/(.+)$/.exec(value?.$ref ?? '') ?? [];
    return kind === '' ? value : components?.[kind]?.[name];
  });
}

function section(path: string, method: string, operation: Operation): string {
  const body = schemaOf(operation.requestBody);
  return `<section id="${escapeHtml(operation.operationId)}">
<h2><code>${heading(method, path, operation)}</code></h2>
<p><strong>${prose(operation.summary ?? '')}</strong></p>${operation.description === undefined ? '' : `<p>${prose(operation.description)}</p>`}
${operation.parameters?.length ? `<h3>Parameters</h3>${parameters(operation.parameters)}` : ''}
${body === undefined ? '' : `<h3>Body: ${typeName(body)}</h3>`}
<h3>Answers</h3><table>${Object.entries(operation.responses)
    .map(([status, response]) => {
      const schema = schemaOf(response);
      return `<tr><td><code>${escapeHtml(status)}</code></td><td>${prose(response.description)}</td><td>${schema === undefined ? '' : typeName(schema)}</td></tr>`;
    })
    .join('')}</table></section>`;
}

/** The delivery of events is the same for all of them, and described once, with the first. */
function webhookSection(type: string, operation: Operation, index: number): string {
  const body = schemaOf(operation.requestBody);
  return `<section id="${escapeHtml(operation.operationId)}">
${index > 0 ? '' : `<p>${prose(operation.description ?? '')}</p><h3>Headers</h3>${parameters(operation.parameters ?? [])}`}
<h3><code>${escapeHtml(type)}</code></h3>
<p>${prose(operation.summary ?? '')}. Body: ${body === undefined ? '' : typeName(body)}</p></section>`;
}

function heading(method: string, path: string, operation: Operation): string {
  const name = `<span class="method">${escapeHtml(method.toUpperCase())}</span> ${escapeHtml(path)}`;
  return operation.deprecated === true ? `<span class="retired">${name}</span>` : name;
}

function parameters(list: readonly Parameter[]): string {
  const rows = list.map(
    ({ name, in: place, required, schema, description }) =>
      `<tr><td><code>${escapeHtml(name)}</code></td><td>${escapeHtml(place)}${required === true ? ', required' : ''}</td><td>${typeName(schema ?? {})} ${prose(description ?? schema?.description ?? '')}</td></tr>`,
  );
  return `<table>${rows.join('')}</table>`;
}

function fields(schema: Schema): string {
  const required = new Set(schema.required ?? []);
  const rows = Object.entries(schema.properties ?? {}).map(
    ([name, field]) =>
      `<tr><td><code>${escapeHtml(name)}</code>${required.has(name) ? '' : ' <span class="muted">optional</span>'}</td><td>${typeName(field)}</td><td>${prose(field.description ?? '')}</td></tr>`,
  );
  return `<table>${rows.join('')}</table>`;
}

function typeName(schema: Schema): string {
  if (schema.$ref !== undefined) {
    const name = escapeHtml(schema.$ref.slice(schema.$ref.lastIndexOf('/') + 1));
    return `<a href="#shape-${name}">${name}</a>`;
  }
  const choices = schema.anyOf ?? schema.oneOf ?? schema.allOf;
  if (choices !== undefined) return choices.map(typeName).join(' or ');
  if (schema.enum !== undefined)
    return schema.enum.map((value) => `<code>${escapeHtml(String(value))}</code>`).join(', ');
  if (schema.type === 'array') return `list of ${typeName(schema.items ?? {})}`;
  const types = typeof schema.type === 'string' ? [schema.type] : [...(schema.type ?? ['any'])];
  if (schema.properties !== undefined) return fields(schema);
  return types.map((type) => escapeHtml(type === 'string' && schema.format ? schema.format : type)).join(' or ');
}

function schemaOf(holder: Content | undefined): Schema | undefined {
  return holder?.content?.['application/json']?.schema;
}

/** The little Markdown that our descriptions use: code spans and lists. */
function prose(text: string): string {
  const marked = escapeHtml(text).replace(/`([^`]+)`/g, '<code>$1</code>');
  if (!marked.startsWith('- ')) return marked;
  return `<ul>${marked
    .split('\n')
    .map((line) => `<li>${line.replace(/^- /, '')}</li>`)
    .join('')}</ul>`;
}

function escapeHtml(text: string): string {
  return text.replace(/[&<>"]/g, (character) => `&#${character.charCodeAt(0)};`);
}
