/**
 * A descriptor: how to read the records of a partner's body, and for `pull_poll` how to request a
 * page. It holds JSON Pointers and no code. Its text is parsed once into a Descriptor, in which
 * every pointer is parsed and every default is set. Only a Descriptor reads bodies.
 *
 * `{}` means the canonical body. Unknown members are refused, so that a misspelt one is noticed at
 * once, unless they begin with `x-`. The schema is descriptor-schema.ts;
 * docs/contract/integrations.md explains it to partners.
 */
import { type Refused, refused, validationMessage } from '@laurel/errors';
import { isJsonObject, type PathTree, parseStrictJson } from '@laurel/json';
import { MAX_DESCRIPTOR_BYTES } from '@laurel/values/limits';
import { exceededLimitOf } from './descriptor-limits.ts';
import { descriptorSchema, firstIssueOf } from './descriptor-schema.ts';
import type { Transport } from './integration.ts';
import type { JsonPointer } from './json-pointer.ts';

/** How a number is written: as a JSON number, or in a string. */
export type NumberSource = { readonly pointer: JsonPointer; readonly as: 'number' | 'numeric_string' };

/** Text at a pointer, or one constant for all records. */
export type TextSource = { readonly pointer: JsonPointer } | { readonly const: string };

/**
 * The condition holds if the value at the pointer is one of `in`; otherwise the record is ignored.
 */
export type Condition = {
  readonly pointer: JsonPointer;
  readonly in: readonly (string | number | boolean | null)[];
};

/** Which attempt a record reports: one named by id, or one that the player has open. */
export type AttemptSource =
  | { readonly kind: 'id'; readonly attemptId: JsonPointer }
  | {
      readonly kind: 'player';
      readonly playerRef: JsonPointer;
      readonly parent: { readonly kind: 'challenge' | 'round'; readonly id: TextSource };
      readonly pick: 'only' | 'oldest';
    };

/** The evidence: an object of the record, unchanged, or an object that the descriptor composes. */
export type EvidenceSource = { readonly kind: 'object'; readonly pointer: JsonPointer } | EvidenceMembers;

export type EvidenceMembers = {
  readonly kind: 'members';
  readonly members: readonly EvidenceMember[];
  /** The members' pointers as one tree; each path ends in the index of its member. */
  readonly paths: PathTree;
};

/**
 * A member's name and constant as JSON text; the constant is null if a pointer leads to the value.
 */
export type EvidenceMember = { readonly nameText: string; readonly constText: string | null };

/** How a record is read. Every pointer except `records` starts at the record. */
export type RecordMap = {
  readonly records: JsonPointer;
  readonly when: readonly Condition[];
  readonly attempt: AttemptSource;
  readonly score: NumberSource;
  readonly tiebreak: NumberSource | null;
  readonly evidence: EvidenceSource | null;
  readonly dedupe: JsonPointer | null;
};

/**
 * How requests authenticate. `secret` is null in a stored descriptor, whose secret is stored apart.
 */
export type PullAuth =
  | { readonly type: 'none' }
  | { readonly type: 'header'; readonly name: string; readonly secret: string | null }
  | { readonly type: 'bearer'; readonly secret: string | null }
  | { readonly type: 'basic'; readonly username: string; readonly secret: string | null };

/** Whether the next page has newer records or older ones. */
export type PageOrder = 'oldest_first' | 'newest_first';

/** How a poll reaches the next page: see paging.ts. */
export type Paging =
  | { readonly type: 'none' }
  /** The page names the next cursor, which is sent as the query parameter `param`. */
  | { readonly type: 'cursor'; readonly param: string; readonly pointer: JsonPointer; readonly order: PageOrder }
  /** The page names the next URL. */
  | { readonly type: 'next_url'; readonly pointer: JsonPointer; readonly order: PageOrder }
  /**
   * The last record's value is sent as the query parameter `param`. Before there is such a value,
   * `initial` is sent.
   */
  | { readonly type: 'since'; readonly param: string; readonly pointer: JsonPointer; readonly initial: string | null };

export type Pull = {
  /** An absolute URL, unchanged. Saving and calling each check whether it may be called. */
  readonly url: string;
  readonly query: Readonly<Record<string, string>>;
  readonly headers: Readonly<Record<string, string>>;
  readonly auth: PullAuth;
  readonly paging: Paging;
  readonly maxPages: number;
};

export type Descriptor = {
  readonly map: RecordMap;
  /** Null unless the transport is `pull_poll` and the descriptor has `pull`. */
  readonly pull: Pull | null;
};

/**
 * Reads a descriptor that a call brings, to save it or to try it out. Applies limits that a stored
 * descriptor may exceed.
 */
export function parseSentDescriptor(text: string, transport: Transport): Descriptor | Refused {
  return parseText(text, transport, { excess: exceededLimitOf, allowsNul: false });
}

/** Reads the text of a stored descriptor, without rules that were added after it was saved. */
export function parseDescriptorText(text: string, transport: Transport): Descriptor | Refused {
  return parseText(text, transport, { excess: () => null, allowsNul: true });
}

function parseText(
  text: string,
  transport: Transport,
  { excess, allowsNul }: { readonly excess: typeof exceededLimitOf; readonly allowsNul: boolean },
): Descriptor | Refused {
  const bytes = Buffer.from(text);
  if (bytes.length > MAX_DESCRIPTOR_BYTES) return tooLarge();
  const json = parseStrictJson(bytes, { allowsNul });
  if (json.kind === 'invalid') return refused('invalid_request', json.message.replace('The body', 'The descriptor'));
  const message = excess(json.value);
  return message === null ? parseDescriptor(json.value, transport) : refused('invalid_request', message);
}

/** Reads a descriptor from parsed JSON, as the database returns it. */
export function parseDescriptor(json: unknown, transport: Transport): Descriptor | Refused {
  if (!isJsonObject(json)) return refused('invalid_request', 'The descriptor must be an object.');
  if (Buffer.byteLength(JSON.stringify(json)) > MAX_DESCRIPTOR_BYTES) return tooLarge();
  const parsed = descriptorSchema.safeParse(json, { error: validationMessage });
  if (!parsed.success) return refused('invalid_request', firstIssueOf(parsed.error));
  if (parsed.data.pull !== null && transport !== 'pull_poll') {
    return refused('invalid_request', 'The descriptor is not valid: `pull` belongs to the transport `pull_poll`.');
  }
  return parsed.data;
}

function tooLarge(): Refused {
  return refused('invalid_request', `The descriptor is larger than ${MAX_DESCRIPTOR_BYTES / 1024} KiB.`);
}
