/** The headers of responses, described once and referenced by every response that has them. */
import type { OpenAPIRegistry } from '@asteasolutions/zod-to-openapi';
import { LIMIT_HEADER, REMAINING_HEADER, RETRY_AFTER_HEADER } from '../domain/rate-limit-headers.ts';
import { REPLAY_HEADER } from '../domain/replay-header.ts';

const HEADERS = {
  'X-Request-Id': {
    schema: { type: 'string', format: 'uuid' },
    description: 'Quote it to support. A new one for every request, a replayed one included.',
    example: '01a1fdfa-4680-7d10-9c2e-5f0a1b7c3d42',
  },
  [LIMIT_HEADER]: { schema: { type: 'integer' }, description: 'Requests that a minute has.', example: 300 },
  [REMAINING_HEADER]: {
    schema: { type: 'integer', minimum: 0 },
    description: 'Requests that are left in this minute.',
    example: 283,
  },
  [RETRY_AFTER_HEADER]: {
    schema: { type: 'integer', minimum: 1 },
    description: 'Seconds until it is worth asking again.',
    example: 1,
  },
  [REPLAY_HEADER]: {
    schema: { type: 'string', enum: ['true'] },
    description: 'Present where the stored answer of an earlier request with this key was sent again, byte for byte.',
    example: 'true',
  },
} as const;

export type HeaderName = keyof typeof HEADERS;
export type HeaderRefs = Readonly<Record<string, { readonly $ref: string }>>;

export function registerHeaders(registry: OpenAPIRegistry): void {
  for (const [name, header] of Object.entries(HEADERS)) {
    registry.registerComponent('headers', name, header as Parameters<typeof registry.registerComponent<'headers'>>[2]);
  }
}

export function headersNamed(...names: readonly HeaderName[]): HeaderRefs {
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));
}

/** On every response below `/v1`; without a valid key no requests are left. */
export const COMMON_HEADERS = ['X-Request-Id', LIMIT_HEADER, REMAINING_HEADER] as const;
