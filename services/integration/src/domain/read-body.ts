/**
 * Reads the records of a partner's body by a descriptor. A record that cannot be read never keeps the others from being read; only a body
 * without any record that could be meant is refused as a whole. What a record may hold is what the body of
 * `POST /attempts/{attempt_id}/outcome` may (docs/contract/partner-api.md, "Limits").
 */
import { type Refused, refused } from '@laurel/errors';
import { MAX_RECORDS } from '@laurel/limits';
import type { Descriptor, RecordMap } from './descriptor.ts';
import { itemsOf, type Json, type PointerFailure, parseBody, partAt } from './json-body.ts';
import { shortened } from './json-pointer.ts';
import { evidenceBudgetOf, type ReadRecord, readRecord } from './read-record.ts';

export type { ReadRecord } from './read-record.ts';

/** Why a body was refused, and the pointer that failed where one did. */
export type RefusedBody = Refused & { readonly failure?: PointerFailure };

export type ReadBody =
  | { readonly kind: 'single'; readonly record: ReadRecord }
  | { readonly kind: 'batch'; readonly records: readonly ReadRecord[] }
  | RefusedBody;

export type RecordParts =
  | { readonly kind: 'single'; readonly record: Json }
  | { readonly kind: 'batch'; readonly records: readonly Json[] }
  | RefusedBody;

/** Reads a body as it was received; never throws. */
export function readBody(descriptor: Descriptor, body: Buffer | string): ReadBody {
  const json = parseBody(body);
  return 'kind' in json ? json : readRecords(descriptor, json);
}

/** The same of a body that is parsed. */
export function readRecords({ map }: Descriptor, body: Json): ReadBody {
  const parts = recordParts(map, body);
  const budget = evidenceBudgetOf(body);
  switch (parts.kind) {
    case 'single':
      return { kind: 'single', record: readRecord(map, parts.record, budget) };
    case 'batch':
      return { kind: 'batch', records: parts.records.map((record) => readRecord(map, record, budget)) };
    case 'refused':
      return parts;
  }
}

/** To settle it, as bytes of a body. */
const RECORD_COST_BYTES = 1_024;

/** What the records of a body cost beyond its bytes: they are settled one by one, and their evidence is written. */
export function costOf(records: readonly ReadRecord[]): number {
  return records.reduce(
    (sum, record) => sum + RECORD_COST_BYTES + (record.kind === 'report' ? record.evidenceJson.length : 0),
    0,
  );
}

/**
 * The records themselves: one object, or the items of an array. A list that is absent or null has no items: many servers leave an empty
 * one out, and Go writes it as null.
 */
export function recordParts({ records: pointer }: RecordMap, body: Json): RecordParts {
  const part = partAt(body, pointer);
  if (part === null || part.value === null) return { kind: 'batch', records: [] };
  if (!Array.isArray(part.value)) return { kind: 'single', record: part };
  if (part.value.length > MAX_RECORDS) return refuse(pointer.text, `must have at most ${MAX_RECORDS} records`);
  return { kind: 'batch', records: itemsOf({ value: part.value, text: part.text }) };
}

/**
 * Why a body has no records although it may be meant to: `records` names nothing in it. Null for any other body. A sample of a dry run
 * that lacks them shows a misspelt pointer; a page of a poll that lacks them is empty.
 */
export function missingRecords({ records: pointer }: RecordMap, body: Json): RefusedBody | null {
  return partAt(body, pointer) === null ? refuse(pointer.text, 'names nothing in the body') : null;
}

function refuse(text: string, message: string): RefusedBody {
  const pointer = shortened(text);
  const where = pointer === '' ? 'The body' : `\`${pointer}\``;
  return { ...refused('invalid_request', `${where} ${message}.`), failure: { pointer, field: 'map.records', message } };
}
