/** The headers of responses, described once and referenced by every response that has them. */
import type { OpenAPIRegistry } from '@asteasolutions/zod-to-openapi';
import { LIMIT_HEADER, REMAINING_HEADER, RETRY_AFTER_HEADER } from '../domain/rate-limit-headers.ts';
import { REPLAY_HEADER } from '../domain/replay-header.ts';

const HEADERS = {
  'X-Request-Id': {
    schema: { type: 'string', format: 'uuid' },
    description: 'Quote this id to support. Every request gets a new one, also a replayed request.',
    example: '01a1fdfa-4680-7d10-9c2e-5f0a1b7c3d42',
  },
  [LIMIT_HEADER]: { schema: { type: 'integer' }, description: 'The limit of requests a minute.', example: 300 },
  [REMAINING_HEADER]: {
    schema: { type: 'integer', minimum: 0 },
    description: 'Requests that remain in this minute.',
    example: 283,
  },
  [RETRY_AFTER_HEADER]: {
    schema: { type: 'integer', minimum: 1 },
    description: 'Seconds to wait before the next try.',
    example: 1,
  },
  [REPLAY_HEADER]: {
    schema: { type: 'string', enum: ['true'] },
    description: 'Present if this is the stored response of an earlier request with this key, byte for byte.',
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

/**
 * Every response below `/v1` has these headers; without a valid key, `X-RateLimit-Remaining` is 0.
 */
export const COMMON_HEADERS = ['X-Request-Id', LIMIT_HEADER, REMAINING_HEADER] as const;
