/**
 * The words of the three transports, and the descriptor with which an integration of each begins.
 */
import type { Transport } from '../../api/api-types.ts';

export const TRANSPORTS: readonly { readonly value: Transport; readonly label: string; readonly hint: string }[] = [
  {
    value: 'push_webhook',
    label: 'Push: your server posts outcomes',
    hint: 'Your server signs each body with a secret that is shown once.',
  },
  {
    value: 'pull_poll',
    label: 'Poll: Laurel fetches outcomes',
    hint: 'Laurel requests a public HTTPS address of yours at an interval.',
  },
  {
    value: 'sdk_direct',
    label: 'Direct: your server calls /v1',
    hint: 'Nothing to configure: outcomes are reported by /v1.',
  },
];

export function labelOf(transport: Transport): string {
  return TRANSPORTS.find(({ value }) => value === transport)?.label ?? transport;
}

/** Returns "Push", "Poll" or "Direct". */
export function shortLabelOf(transport: Transport): string {
  return labelOf(transport).split(':')[0] ?? transport;
}

const POLLED = {
  version: 1,
  map: { records: '/data' },
  pull: {
    url: 'https://game.example.com/runs?limit=50',
    paging: { type: 'cursor', param: 'after', pointer: '/next_cursor' },
  },
};

const ATTEMPT = '018f6f7e-2a6b-8c1d-9e3f-5a4b3c2d1e0f';

export function firstDescriptor(transport: Transport): string {
  return JSON.stringify(transport === 'pull_poll' ? POLLED : {}, null, 2);
}

/** A sample that `firstDescriptor` reads. */
export function firstSample(transport: Transport): string {
  const record = { attempt_id: ATTEMPT, score: 87.5 };
  return JSON.stringify(transport === 'pull_poll' ? { data: [record], next_cursor: 'c2' } : record, null, 2);
}
