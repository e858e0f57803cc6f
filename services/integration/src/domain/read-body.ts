/**
 * Reads the records of a partner's body with a descriptor. An unreadable record does not affect the
 * others; a body is refused as a whole only if it has nothing that could be meant as a record. A
 * record may hold what the body of `POST /attempts/{attempt_id}/outcome` may hold
 * (docs/contract/partner-api.md, "Limits").
 */
import { type Refused, refused } from '@laurel/errors';
import { MAX_RECORDS } from '@laurel/values/limits';
import type { Descriptor, RecordMap } from './descriptor.ts';
import { type Json, jsonItemsOf, type PointerFailure, parseBody, partAt } from './json-body.ts';
import { shortenedPointer } from './json-pointer.ts';
import { evidenceBudgetOf, type ReadRecord, readRecord } from './read-record.ts';

export type { ReadRecord } from './read-record.ts';

/** Why a body was refused, and the pointer that failed, if one did. */
export type RefusedBody = Refused & { readonly failure?: PointerFailure };

export type ReadBody =
  | { readonly kind: 'single'; readonly record: ReadRecord }
  | { readonly kind: 'batch'; readonly records: readonly ReadRecord[] }
  | RefusedBody;

export type RecordParts =
  | { readonly kind: 'single'; readonly record: Json }
  | { readonly kind: 'batch'; readonly records: readonly Json[] }
  | RefusedBody;

/** Reads a body from its received bytes; never throws. */
export function readBody(descriptor: Descriptor, body: Buffer | string): ReadBody {
  const json = parseBody(body);
  return 'kind' in json ? json : readRecords(descriptor, json);
}

/** `readBody` for a body that is already parsed. */
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

/** What settling a record costs, as a number of body bytes. */
const RECORD_COST_BYTES = 1_024;

/**
 * What the records of a body cost beyond its bytes: each is settled, and its evidence is written.
 */
export function recordsCostOf(records: readonly ReadRecord[]): number {
  return records.reduce(
    (sum, record) => sum + RECORD_COST_BYTES + (record.kind === 'report' ? record.evidenceJson.length : 0),
    0,
  );
}

/**
 * The records themselves: one object, or the items of an array. A list that is absent or null has
 * no items: many servers omit an empty list, and Go writes it as null.
 */
export function recordParts({ records: pointer }: RecordMap, body: Json): RecordParts {
  const part = partAt(body, pointer);
  if (part === null || part.value === null) return { kind: 'batch', records: [] };
  if (!Array.isArray(part.value)) return { kind: 'single', record: part };
  if (part.value.length > MAX_RECORDS) return refuse(pointer.text, `must have at most ${MAX_RECORDS} records`);
  return { kind: 'batch', records: jsonItemsOf({ value: part.value, text: part.text }) };
}

/**
 * Refuses a body in which `records` leads to nothing; null for any other body. A dry run shows the
 * refusal as a misspelt pointer; a poll takes such a page as empty.
 */
export function refuseMissingRecords({ records: pointer }: RecordMap, body: Json): RefusedBody | null {
  return partAt(body, pointer) === null ? refuse(pointer.text, 'names nothing in the body') : null;
}

function refuse(text: string, message: string): RefusedBody {
  const pointer = shortenedPointer(text);
  const where = pointer === '' ? 'The body' : `\`${pointer}\``;
  return { ...refused('invalid_request', `${where} ${message}.`), failure: { pointer, field: 'map.records', message } };
}
