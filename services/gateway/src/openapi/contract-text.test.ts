import { readFileSync } from 'node:fs';
import { HTTP_STATUS } from '@laurel/errors';
import { describe, expect, test } from 'vitest';
import { EXAMPLE_WEBHOOK_SECRET } from './examples/secrets.ts';
import { partnerDocument } from './partner-document.ts';
import { portalDocument } from './portal-document.ts';

const GUIDE = guide('docs/contract/partner-api.md');
const OWN_GUIDE = guide('docs/contract/portal-api.md');

interface Post {
  readonly parameters: readonly { readonly name: string; readonly schema: { readonly example?: string } }[];
  readonly requestBody: {
    readonly content: Readonly<Record<string, { examples: { event: { readonly value: object } } }>>;
  };
}

describe('docs/contract/partner-api.md', () => {
  test('the contract names every operation, field, code and event that is served', () => {
    const document = partnerDocument();
    const titles = new Set([...GUIDE.matchAll(/^## (.+)$/gm)].map(([, title]) => title));
    const operations = Object.entries(document.paths ?? {}).flatMap(([path, item]) =>
      Object.keys(item).flatMap((method) =>
        path.startsWith('/v1/') ? `${method.toUpperCase()} ${path.slice('/v1'.length)}` : [],
      ),
    );
    expect(operations.length).toBeGreaterThan(5);
    expect(operations.filter((operation) => !titles.has(operation))).toEqual([]);

    const names = namesIn(GUIDE);
    const schemas = document.components?.schemas;
    const wanted = [...fieldsOf(schemas), ...valuesOf(schemas), ...Object.keys(document.webhooks ?? {})];
    expect(wanted.length).toBeGreaterThan(80);
    expect(wanted.filter((name) => !names.has(name))).toEqual([]);

    const rows = [...GUIDE.matchAll(/^\| (\d{3}) +\| `(\w+)`/gm)].map(([, status, code]) => [code, Number(status)]);
    const { forbidden, conflict, ...partnerCodes } = HTTP_STATUS;
    expect(Object.fromEntries(rows)).toEqual(partnerCodes);
  });

  test('the webhook code in the contract accepts a genuine signature and refuses every other one', async () => {
    const code = /```js\n(?<code>import \{ createHmac[\s\S]*?)^```$/m.exec(GUIDE)?.groups?.code ?? '';
    const example: { isGenuine(secret: string, body: Buffer, signature: string | undefined): boolean } = await import(
      `data:text/javascript,${encodeURIComponent(`${code}\nexport { isGenuine };`)}`
    );
    const { parameters, requestBody } = webhookOf('attempt.settled');
    const body = Buffer.from(JSON.stringify(requestBody.content['application/json']?.examples.event.value));
    const signature = parameters.find(({ name }) => name === 'X-Webhook-Signature')?.schema.example;

    expect(example.isGenuine(EXAMPLE_WEBHOOK_SECRET, body, signature)).toBe(true);
    expect(example.isGenuine(EXAMPLE_WEBHOOK_SECRET, body, undefined)).toBe(false);
    expect(example.isGenuine(EXAMPLE_WEBHOOK_SECRET, Buffer.concat([body, body]), signature)).toBe(false);
    expect(example.isGenuine(`${EXAMPLE_WEBHOOK_SECRET}0`, body, signature)).toBe(false);
  });
});

describe('docs/contract/portal-api.md', () => {
  test('the portal API document names every route under /api with its fields and values', () => {
    const document = portalDocument();
    const routes = Object.entries(document.paths ?? {}).flatMap(([path, item]) =>
      Object.keys(item).map((method) => `${method.toUpperCase()} ${path.replace(/\{\w+\}/g, '{}')}`),
    );
    expect(routes.length).toBeGreaterThan(50);
    const documented = [...OWN_GUIDE.matchAll(/`([A-Z]+ \/api\/[^\s`?]+)/g)].map(([, route = '']) =>
      route.replace(/\{\w+\}/g, '{}'),
    );
    expect(new Set(documented)).toEqual(new Set([...routes, 'GET /api/openapi.json']));

    const names = namesIn(GUIDE + OWN_GUIDE);
    const wanted = [...fieldsOf(document.components?.schemas), ...valuesOf(document.components?.schemas)];
    expect(wanted.length).toBeGreaterThan(200);
    expect(wanted.filter((name) => !names.has(name))).toEqual([]);
  });
});

function guide(file: string): string {
  return readFileSync(new URL(`../../../../${file}`, import.meta.url), 'utf8');
}

function namesIn(text: string): ReadonlySet<string> {
  return new Set(text.match(/\w+(?:\.\w+)*/g));
}

/** The names of the members of every schema, at any depth. */
function fieldsOf(schema: unknown): string[] {
  if (typeof schema !== 'object' || schema === null) return [];
  const own =
    'properties' in schema && typeof schema.properties === 'object' ? Object.keys(schema.properties ?? {}) : [];
  return [...own, ...Object.values(schema).flatMap(fieldsOf)];
}

/** The values of every enumeration, at any depth. */
function valuesOf(schema: unknown): string[] {
  if (typeof schema !== 'object' || schema === null) return [];
  const own = 'enum' in schema && Array.isArray(schema.enum) ? schema.enum : [];
  return [...own.filter((value) => typeof value === 'string'), ...Object.values(schema).flatMap(valuesOf)];
}

function webhookOf(type: string): Post {
  const webhooks: Readonly<Record<string, { post: Post }>> = JSON.parse(JSON.stringify(partnerDocument().webhooks));
  const found = webhooks[type];
  if (found === undefined) throw new Error(`the document has no webhook ${type}`);
  return found.post;
}
