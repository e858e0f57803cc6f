/** The periods that migration 0006 gives to signing keys that were replaced before it ran. */
import { endsOfReplacedKeys, SIGNED_RECEIPTS } from '@laurel/testing';
import { expect, it } from 'vitest';

it('a replaced signing key’s period ends a minute after its last receipt or the next key’s start, whichever is later', async () => {
  const ends = await endsOfReplacedKeys({
    migrations: new URL('../migrations/', import.meta.url),
    before: '0006',
    signed: [
      `
insert into outcomes (attempt_id, receipt_id, score, met_threshold, recorded_at, receipt, signature, signing_key_id)
select gen_random_uuid(), gen_random_uuid(), 1, false, at::timestamptz, '{}', decode(repeat('00', 64), 'hex'), key
from ${SIGNED_RECEIPTS}`,
    ],
  });
  expect(ends).toEqual(['2026-02-01 00:01:07', '2026-03-01 00:01:00', null]);
});
