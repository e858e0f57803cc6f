/** The shape of a descriptor in JSON, and what it is parsed into. */

import { isAtMost, isJsonObject, pathTreeOf } from '@laurel/json';
import { isUuid } from '@laurel/values/ids';
import { z } from 'zod';
import { WHOLE } from './json-pointer.ts';
import { pullSchema } from './pull-schema.ts';
import { parseWithin, partnerObject, pointer, pointerOr, scalarSchema } from './schema-parts.ts';

const MAX_MEMBER_NAME_CHARACTERS = 100;

/** A bare pointer leads to a JSON number; a string that holds a number needs the long form. */
const numberSource = pointerOr(
  partnerObject({ pointer, as: z.enum(['number', 'numeric_string']).default('number') }),
  (parsed) => ({ pointer: parsed, as: 'number' as const }),
);

const idSource = pointerOr(
  partnerObject({
    const: z
      .string()
      .refine(isUuid, 'must be a uuid')
      .transform((id) => id.toLowerCase()),
  }),
  (parsed) => ({ pointer: parsed }),
);

const condition = partnerObject({ pointer, in: z.array(scalarSchema).min(1) });

const attempt = partnerObject({
  attempt_id: pointer.optional(),
  player_ref: pointer.optional(),
  challenge_id: idSource.optional(),
  tournament_round_id: idSource.optional(),
  pick: z.enum(['only', 'oldest']).optional(),
}).transform((sent, context) => {
  const { attempt_id: attemptId, player_ref: playerRef, challenge_id: challenge, tournament_round_id: round } = sent;
  const ofPlayer = [playerRef, challenge, round, sent.pick].filter((part) => part !== undefined).length;
  if (attemptId !== undefined && ofPlayer === 0) return { kind: 'id' as const, attemptId };
  const parent =
    challenge === undefined
      ? round && { kind: 'round' as const, id: round }
      : { kind: 'challenge' as const, id: challenge };
  const isOneParent = (challenge === undefined) !== (round === undefined);
  if (attemptId === undefined && playerRef !== undefined && parent !== undefined && isOneParent) {
    return { kind: 'player' as const, playerRef, parent, pick: sent.pick ?? ('only' as const) };
  }
  context.addIssue(
    'must have either `attempt_id` alone, or `player_ref` and exactly one of `challenge_id` and `tournament_round_id`',
  );
  return z.NEVER;
});

const evidenceMember = pointerOr(partnerObject({ const: scalarSchema }), (parsed) => ({ pointer: parsed }));

const evidence = pointerOr(
  z.custom<object>(isJsonObject).transform((sent, context) => {
    const sources = Object.entries(sent).map(([name, value]) => {
      if (!isAtMost(name, MAX_MEMBER_NAME_CHARACTERS)) {
        context.addIssue(`must have names of at most ${MAX_MEMBER_NAME_CHARACTERS} characters`);
      }
      return { name, source: parseWithin(context, evidenceMember, value, [name]) };
    });
    if (sources.length === 0) context.addIssue('must have a member');
    if (context.issues.length > 0) return z.NEVER;
    const members = sources.map(({ name, source }) => ({
      nameText: JSON.stringify(name),
      constText: 'const' in source ? JSON.stringify(source.const) : null,
    }));
    const pathOf = (source: (typeof sources)[number]['source']) => ('const' in source ? null : source.pointer.path);
    return { kind: 'members' as const, members, paths: pathTreeOf(sources.map(({ source }) => pathOf(source))) };
  }),
  (parsed) => ({ kind: 'object' as const, pointer: parsed }),
);

/** The names of the body of `POST /attempts/{attempt_id}/outcome`, and `attempt_id`. */
const CANONICAL = {
  attempt: { attempt_id: '/attempt_id' },
  score: '/score',
  tiebreak: '/tiebreak',
  evidence: '/evidence',
};

const map = partnerObject({
  records: pointer.default(WHOLE),
  when: z.array(condition).default([]),
  attempt: attempt.prefault(CANONICAL.attempt),
  score: numberSource.prefault(CANONICAL.score),
  tiebreak: numberSource.optional(),
  evidence: evidence.optional(),
  dedupe: pointer.optional(),
}).transform(({ tiebreak = null, evidence: from = null, dedupe = null, ...required }, context) => {
  if (required.attempt.kind === 'player' && dedupe === null) {
    const message = 'is missing: without it the same body, sent again, would settle the next attempt of the player';
    context.issues.push({ code: 'custom', message, path: ['dedupe'], input: required });
  }
  return { ...required, tiebreak, evidence: from, dedupe };
});

const versioned = partnerObject({
  version: z.literal(1),
  // Without `map`, as in `{}`, the descriptor reads the canonical body.
  map: map.prefault(CANONICAL),
  pull: pullSchema.optional(),
}).transform(({ map: read, pull = null }) => ({ map: read, pull }));

export const descriptorSchema = z.preprocess((sent) => (isEmpty(sent) ? { version: 1 } : sent), versioned);

function isEmpty(sent: unknown): boolean {
  return isJsonObject(sent) && Object.keys(sent).every((name) => name.startsWith('x-'));
}

/** The first validation issue, as a sentence that names the member. */
export function firstIssueOf(error: z.ZodError): string {
  const [issue] = error.issues;
  const field = issue?.path.join('.') ?? '';
  const message = issue?.message ?? 'is not valid';
  return field === '' ? `The descriptor ${message}.` : `The descriptor is not valid: \`${field}\` ${message}.`;
}
