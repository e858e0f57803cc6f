/** Bounds of members that must fit into one body together, and bounds that contain one another. */
import { MAX_EVIDENCE_BYTES, MAX_METADATA_BYTES } from '@laurel/attempts/domain';
import { encodeCursor, encodePosition } from '@laurel/values/cursor';
import { newId } from '@laurel/values/ids';
import {
  MAX_BODY_BYTES,
  MAX_DESCRIPTION_CHARACTERS,
  MAX_DESCRIPTOR_BYTES,
  MAX_NAME_CHARACTERS,
  MAX_PAID_RANKS,
  MAX_SAMPLE_BYTES,
} from '@laurel/values/limits';
import { MAX_PLAYER_REF_CHARACTERS, SECONDS_HELD } from '@laurel/values/tenant';
import { expect, test } from 'vitest';
import { page } from './fields.ts';
import { DRY_RUN_BYTES_PER_SECOND } from './portal/integrations.ts';

/**
 * A text that takes the most bytes possible for this many characters: each character is written as
 * the escapes of two UTF-16 units.
 */
const escaped = (characters: number) => '\\ud83c\\udfaf'.repeat(characters);
/** A member of a body as JSON text: its name, and a string as its value. */
const member = (name: string, text: string) => `"${name}":${text}`;
const bytesOf = (...members: string[]) => Buffer.byteLength(`{${members.join(',')}}`);

test('a body of the maximum size can hold the largest metadata, evidence and descriptor', () => {
  const playerRef = `"${escaped(MAX_PLAYER_REF_CHARACTERS)}"`;
  const object = (bytes: number) => 'x'.repeat(bytes);
  for (const bytes of [
    bytesOf(
      member('challenge_id', `"${newId()}"`),
      member('player_ref', playerRef),
      member('metadata', object(MAX_METADATA_BYTES)),
    ),
    bytesOf(member('score', '-1.7976931348623157e+308'), member('evidence', object(MAX_EVIDENCE_BYTES))),
    bytesOf(
      member('transport', '"push_webhook"'),
      member('descriptor', object(MAX_DESCRIPTOR_BYTES)),
      member('sample', object(MAX_SAMPLE_BYTES)),
    ),
  ]) {
    expect(bytes).toBeLessThanOrEqual(MAX_BODY_BYTES);
  }
});

test('a body of the maximum size can hold a purse with the maximum number of ranks', () => {
  const amount = (99_999_999_999_999 / MAX_PAID_RANKS / 100).toFixed(2);
  const table = Array.from({ length: MAX_PAID_RANKS }, (_, index) => ({ rank: index + 1, amount }));
  const names = ['name', 'metric_name', 'metric_unit', 'tiebreak_metric_name'];
  const bytes = bytesOf(
    member('purse_table', JSON.stringify(table)),
    member('description', `"${escaped(MAX_DESCRIPTION_CHARACTERS)}"`),
    ...names.map((name) => member(name, `"${escaped(MAX_NAME_CHARACTERS)}"`)),
  );
  expect(bytes + 1_024).toBeLessThanOrEqual(MAX_BODY_BYTES);
});

test('a list accepts every cursor that a list returns', () => {
  for (const cursor of [
    encodePosition({ at: new Date('9999-01-01T00:00:00.000Z'), id: newId() }),
    encodeCursor([newId(), String(2n ** 63n - 1n)]),
  ]) {
    expect(page.cursor.safeParse(cursor)).toMatchObject({ success: true });
  }
});

test('a developer’s budget allows two dry runs of the largest size at once', () => {
  expect(2 * (MAX_BODY_BYTES + 16 * 1024)).toBeLessThanOrEqual(SECONDS_HELD * DRY_RUN_BYTES_PER_SECOND);
});
