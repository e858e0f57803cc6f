/**
 * The examples of the partner document's routes, from `recorded-partner.json`, which
 * tests/contract/partner-examples.test.ts records. They are one story, so that every id, amount and
 * instant agrees with the others.
 */
import { readFileSync } from 'node:fs';
import { DEFAULT_MESSAGE } from '@laurel/errors';
import type { Examples, RouteExamples } from './example.ts';

interface Recorded {
  readonly summary: string;
  readonly path: string;
  readonly request?: unknown;
  readonly response?: unknown;
}

const RECORDED: Readonly<Record<string, Readonly<Record<string, Recorded>>>> = JSON.parse(
  readFileSync(new URL('recorded-partner.json', import.meta.url), 'utf8'),
);

export const EXAMPLE_IDEMPOTENCY_KEY = '0b1f7e0c-5b7e-4a52-9f0e-8d2c6a3f4e11';

/** The bodies of a route's requests and successes. Equal requests are shown once. */
export function partnerExamplesOf(routeName: string): RouteExamples {
  return { request: bodiesOf(routeName, 'request'), response: bodiesOf(routeName, 'response') };
}

/**
 * The parameter of the first example's path, for example `attempt_id` of
 * `/v1/attempts/{attempt_id}`.
 */
export function partnerParameterOf(routeName: string, path: string, parameter: string): string | undefined {
  const [first] = Object.values(RECORDED[routeName] ?? {});
  const pattern = new RegExp(`^${path.replace(/\{(\w+)\}/g, '(?<$1>[^/]+)')}$`);
  return pattern.exec(first?.path ?? '')?.groups?.[parameter];
}

/** What one recorded response says; throws if it is not recorded. */
export function recordedResponse<Body>(routeName: string, example: string): Body {
  const response = RECORDED[routeName]?.[example]?.response;
  if (response === undefined) throw new Error(`no response ${example} of ${routeName} is recorded`);
  return response as Body;
}

function bodiesOf(routeName: string, kind: 'request' | 'response'): Examples | undefined {
  const seen = new Set<string>();
  const shown = Object.entries(RECORDED[routeName] ?? {}).flatMap(([name, { summary, [kind]: value }]) => {
    const text = JSON.stringify(value);
    if (value === undefined || (kind === 'request' && seen.has(text))) return [];
    seen.add(text);
    return [[name, { summary, value }] as const];
  });
  return shown.length === 0 ? undefined : Object.fromEntries(shown);
}

/** Two example keys, which sign nothing in Laurel. The first one is the key of RFC 8037. */
export const KEY_LIST_EXAMPLES: Examples = {
  replaced: {
    summary: 'A key that was replaced, and the one that is in use',
    value: {
      keys: [
        {
          key_id: 'kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k',
          algorithm: 'Ed25519',
          public_key: 'MCowBQYDK2VwAyEA11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo=',
          from: '2026-03-02T09:00:00.000Z',
          until: '2026-09-01T09:01:00.000Z',
        },
        {
          key_id: '--6IM5l0OosLj9yWskISYhUA3n_3CURQkmrYMSha_ck',
          algorithm: 'Ed25519',
          public_key: 'MCowBQYDK2VwAyEA6kpsY+KcUgq+9VB7Ey7F+ZVHdq6+vnuSQh7qaRRG0iw=',
          from: '2026-09-01T09:00:00.000Z',
          until: null,
        },
      ],
    },
  },
};

export const RETIRED_EXAMPLES: Examples = {
  retired: {
    summary: 'Always',
    value: { error: DEFAULT_MESSAGE.client_reporting_removed, code: 'client_reporting_removed' },
  },
};
