/** Compares the events that a partner's receiver got with those that the databases require. */
import { verify } from '@octokit/webhooks-methods';
import { expect } from 'vitest';
import {
  type Developer,
  type EventBody,
  eventually,
  type Hook,
  type HookOptions,
  type SharedWorld,
  UNACKNOWLEDGED,
} from '../world.ts';

/** The subjects of a check: everything that concerns these players and these rounds. */
export interface Subjects {
  readonly refs: readonly string[];
  readonly rounds?: readonly string[];
}

/** A developer's receiver whose events are compared with the databases. */
export interface DeliveredEvents {
  readonly developer: Developer;
  readonly hook: Hook;
  /**
   * Waits until no event is in transit. Then the receiver must have exactly the events that the
   * databases require for the subjects, each under one delivery id and with a valid signature.
   */
  expectAll(subjects: Subjects, deadlineMs?: number): Promise<void>;
}

/** The most sends of one delivery. */
const MAX_SENDS = 3;

/**
 * A developer with separate programs, whose receiver accepts every event unless the options set
 * another response.
 */
export async function receiveEvents(world: SharedWorld, options: HookOptions = {}): Promise<DeliveredEvents> {
  const developer = await world.newDeveloper();
  const hook = await world.newReceiver(developer, options);
  return {
    developer,
    hook,
    expectAll: async (subjects, deadlineMs) => {
      await eventually(
        async () => (await isQuiet(world)) || undefined,
        'no event is to come, in an outbox, or waits for its delivery',
        deadlineMs,
      );
      const received = await receivedBy(hook, subjects);
      expect([...received.keys()].sort()).toEqual(await requiredEvents(world, subjects));
      for (const [event, sends] of received) {
        expect(new Set(sends).size, `delivery ids of ${event}`).toBe(1);
        expect(sends.length, `sends of ${event}`).toBeLessThanOrEqual(MAX_SENDS);
      }
    },
  };
}

async function isQuiet({ stack }: SharedWorld): Promise<boolean> {
  for (const [owner, query] of UNACKNOWLEDGED) {
    const waiting = await stack.database(owner).query(query);
    if (waiting.length > 0) return false;
  }
  const pending = await stack.database('webhook').query(`select 1 from deliveries where status = 'pending' limit 1`);
  return pending.length === 0;
}

/** The delivery ids of all sends of each event about the subjects: `attempt.settled 0190...`. */
async function receivedBy({ receiver, secret }: Hook, subjects: Subjects): Promise<Map<string, string[]>> {
  const refs = new Set(subjects.refs);
  const rounds = new Set(subjects.rounds);
  const received = new Map<string, string[]>();
  for (const { body, headers } of receiver.requests) {
    const text = body.toString();
    const { event, data }: EventBody = JSON.parse(text);
    const isAbout =
      data.player_ref === undefined ? rounds.has(String(data.tournament_round_id)) : refs.has(String(data.player_ref));
    if (!isAbout) continue;
    expect(await verify(secret, text, String(headers['x-webhook-signature'])), `the signature of ${text}`).toBe(true);
    expect(headers['x-webhook-event']).toBe(event);
    const key = `${event} ${aboutOf(event, data)}`;
    received.set(key, [...(received.get(key) ?? []), String(headers['x-webhook-delivery-id'])]);
  }
  return received;
}

function aboutOf(event: EventBody['event'], { attempt_id, award, tournament_round_id }: EventBody['data']): unknown {
  if (event.startsWith('round.')) return tournament_round_id;
  return event === 'award.released' ? (award as { id: string }).id : attempt_id;
}

/**
 * Returns the events that the databases require: those of outcomes and rounds by the contest
 * services' databases, those of refunded fees and released prizes by the wallet's.
 */
async function requiredEvents({ stack }: SharedWorld, { refs, rounds = [] }: Subjects): Promise<string[]> {
  const read = async (service: 'challenge' | 'tournament' | 'wallet', query: string, values: readonly unknown[]) =>
    (await stack.database(service).query<{ event: string }>(query, values)).map(({ event }) => event);
  const settled = `select 'attempt.settled ' || id as event from attempts where status = 'settled' and player_ref = any($1::text[])`;
  const all = [
    await read('challenge', settled, [refs]),
    await read('tournament', settled, [refs]),
    await read(
      'tournament',
      `select 'round.' || status || ' ' || id as event from rounds
       where status in ('settled', 'cancelled') and id = any($1::uuid[])`,
      [rounds],
    ),
    await read(
      'wallet',
      `with accounts as (select distinct account_id from player_links where player_ref = any($1::text[]))
       select 'attempt.refunded ' || t.attempt_id as event
       from accounts
       join ledger_accounts a on a.account_id = accounts.account_id
       join transfers t on t.player_ledger_id = a.id and t.kind = 'refund'
       union all
       select 'award.released ' || p.award_id
       from accounts join payouts p on p.account_id = accounts.account_id and p.status = 'paid' and p.reason is not null`,
      [refs],
    ),
  ];
  return all.flat().sort();
}
