/** The public keys that an owner's receipts were signed with. */
import type { Queryable } from '@laurel/postgres';

const PUT = {
  text: `
with put as (insert into signing_keys (public_key) values ($1) on conflict (public_key) do nothing returning id)
select id from put union all select id from signing_keys where public_key = $1 limit 1`,
};

/** The id of the key; two processes that start together agree on it. */
export async function putSigningKey(on: Queryable, publicKey: Buffer): Promise<number> {
  const [row] = await on.query<{ id: number }>(PUT, [publicKey]);
  if (row !== undefined) return row.id;
  // Another process inserted it after this statement's snapshot was taken; the next one sees it.
  return putSigningKey(on, publicKey);
}
