/** The page of an operation, and the page of the events, as Markdown. */
import { contractTitle } from '../guides.ts';
import { anchorOf } from '../sections.ts';
import {
  type BodyDescription,
  type Example,
  eventsOf,
  jsonOf,
  type OpenApi,
  type Parameter,
  type Route,
} from './document.ts';
import { cell, fieldTables, typeName } from './fields.ts';
import { curlSample, sdkSample } from './samples.ts';

/**
 * The page of an operation. `contractText` is the section of docs/contract/partner-api.md on it;
 * without one, the page shows the document's own description.
 */
export function operationPage(document: OpenApi, route: Route, contractText: string | undefined): string {
  const { operation } = route;
  const parameters = operation.parameters ?? [];
  return [
    `# ${titleOf(route)}`,
    // The contract names an operation by its route, and its links lead here.
    `<p id="${anchorOf(contractTitle(route.method, route.path))}">${methodBadge(route)} <code v-pre>${route.path}</code></p>`,
    operation.deprecated === true ? '::: warning Retired\nThis route does nothing any more.\n:::' : '',
    contractText ?? prose(operation.description ?? ''),
    `## Samples\n\n${samples(route)}`,
    parameters.length === 0 ? '' : `## Parameters\n\n${parameterTable(document, parameters)}`,
    operation.requestBody === undefined
      ? ''
      : `## Body\n\n${message(document, operation.requestBody, `${operation.operationId} body`)}`,
    '## Answers',
    ...Object.entries(operation.responses).map(
      ([status, answer]) =>
        `### ${status}\n\n${prose(answer.description ?? '')}\n\n${message(document, answer, `${operation.operationId} ${status}`)}`,
    ),
  ].join('\n\n');
}

/** What the operation does: "Create an attempt". */
export function titleOf({ method, path, operation }: Route): string {
  return operation.summary ?? contractTitle(method, path);
}

export function methodBadge({ method }: Route): string {
  return `<span class="method ${method}">${method.toUpperCase()}</span>`;
}

/** All events on one page, because they share one delivery and its headers. */
export function eventsPage(document: OpenApi): string {
  const events = eventsOf(document);
  const first = events[0]?.[1];
  return [
    '# Events',
    'What a webhook brings. How it is delivered, signed and tried again: [Webhooks](/webhooks).',
    `## Headers\n\n${parameterTable(document, first?.parameters ?? [])}`,
    ...events.map(
      ([type, operation]) =>
        `## ${type}\n\n${prose(operation.summary ?? '')}.\n\n${message(document, operation.requestBody ?? {}, `${operation.operationId} body`)}`,
    ),
  ].join('\n\n');
}

function samples(route: Route): string {
  const sdk = sdkSample(route);
  const blocks = [fence('sh [curl]', curlSample(route)), ...(sdk === undefined ? [] : [fence('ts [SDK]', sdk)])];
  return `::: code-group\n${blocks.join('\n')}\n:::`;
}

function parameterTable(document: OpenApi, parameters: readonly Parameter[]): string {
  const rows = parameters.map(({ name, in: place, required, schema, description }) => {
    const text = description ?? schema?.description ?? '';
    return `| \`${name}\` | ${place}${required === true ? ', required' : ''} | ${cell(typeName(document, schema ?? {}))} | ${cell(text)} |`;
  });
  return `| Name | In | Type | Meaning |\n| --- | --- | --- | --- |\n${rows.join('\n')}\n`;
}

/**
 * The fields of a body and its examples. `name`, for example `createAttempt 201`, says to a test
 * which body the examples show.
 */
function message(document: OpenApi, body: BodyDescription, name: string): string {
  const json = jsonOf(body);
  if (json === undefined) return '';
  // All errors have the same fields, so the examples say everything.
  const isError = / [45]\d\d$/.test(name);
  const tables = isError ? '' : fieldTables(document, json.schema);
  return `${tables}\n${json.examples.map(([key, example]) => exampleBlock(name, key, example)).join('\n\n')}`;
}

function exampleBlock(name: string, key: string, { summary, value }: Example): string {
  const block = fence('json', JSON.stringify(value, null, 2));
  return `<div class="example" data-body="${name}" data-example="${key}">\n\n**Example: ${cell(summary ?? key)}**\n\n${block}\n\n</div>`;
}

function fence(language: string, text: string): string {
  return `\`\`\`${language}\n${text.trimEnd()}\n\`\`\``;
}

/** A description is Markdown without markup outside of code. */
function prose(text: string): string {
  return text.replace(/<(?=[^>]*>)/g, '&lt;');
}
