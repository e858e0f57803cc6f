/**
 * Runs the commit of outcomes in isolation: instances on the harness's database, each with its own
 * cache, beside two replicas of the service.
 */

import { putSigningKey } from '@laurel/attempts';
import type { Tenant } from '@laurel/attempts/domain';
import { connectEvents, createOutbox, type EventStream, type Outbox } from '@laurel/events';
import type { Database } from '@laurel/postgres';
import type { Event } from '@laurel/proto/events';
import { createLogger } from '@laurel/service';
import { createSigner } from '@laurel/signature';
import { newId } from '@laurel/values/ids';
import { afterAll, beforeAll } from 'vitest';
import { created, type Harness, HOUR_MS, PROGRAM } from '../challenge.fixture.ts';
import { createAttemptCache } from '../repository/attempt-cache.ts';
import { findAttempt } from '../repository/attempts.ts';
import { findChallenge } from '../repository/challenges.ts';
import type { Settlement } from './outcome-draft.ts';
import { createOutcomeSettlementBatches } from './settle-outcomes.ts';

export const TENANT: Tenant = { programId: PROGRAM.programId, environment: 'test' };

export interface Instance {
  /** The events that this instance published, in order. */
  readonly published: readonly Event[];
  /** How often this instance decided under lock. */
  readonly transactions: number;
  /** Caches these attempts as they are now. */
  cache(...attemptIds: readonly string[]): Promise<void>;
  report(attemptId: string, score: number, operationId?: string): Promise<Settlement>;
}

export interface SettlementsHarness {
  /** The other replica of the service. */
  readonly other: Awaited<ReturnType<Harness['startReplica']>>;
  startInstance(): Instance;
  /** Returns everything that is recorded about an attempt. */
  traceOf(attemptId: string): Promise<object>;
  /** Opens two attempts of one player on one challenge. */
  twoAttempts(): Promise<{ readonly first: string; readonly second: string }>;
}

/** Sets up settlements for the tests of one file, on its harness. */
export function useSettlements(h: Harness): SettlementsHarness {
  const signer = createSigner(Buffer.alloc(32, 9));
  const logger = createLogger({ service: 'challenge', level: 'silent' });
  let other: Awaited<ReturnType<Harness['startReplica']>>;
  let signingKeyId: number;
  let stream: EventStream;
  beforeAll(async () => {
    other = await h.startReplica();
    // Nothing listens at this address: emitted events stay in the outbox.
    stream = connectEvents({ url: 'nats://127.0.0.1:1', prefix: h.eventsPrefix, name: 'challenge-test', logger });
    signingKeyId = await putSigningKey(h.database, signer.publicKey);
  });
  afterAll(async () => {
    // The service's sweep pays the awards that the tests won without the service, and emits their
    // events.
    h.clock.advance(2_000);
    await h.server.sweepOnce();
    await stream[Symbol.asyncDispose]();
    await other[Symbol.asyncDispose]();
  });

  return {
    get other() {
      return other;
    },
    startInstance() {
      const attempts = createAttemptCache();
      const published: Event[] = [];
      let transactions = 0;
      const database: Database = {
        ...h.database,
        transaction(work, options) {
          transactions += 1;
          return h.database.transaction(work, options);
        },
      };
      const outbox: Outbox = {
        ...createOutbox({ owner: 'challenge', database: h.database, stream, logger }),
        publish: (events) => published.push(...events),
      };
      const settlements = createOutcomeSettlementBatches({
        database,
        signer,
        signingKeyId,
        attempts,
        outbox,
        // Not woken: the service's own monitor counts the outcomes that an instance settles.
        monitor: { wake: () => undefined },
        attemptTtlMs: HOUR_MS,
        clock: h.clock,
      });
      return {
        published,
        get transactions() {
          return transactions;
        },
        async cache(...attemptIds) {
          // First lets the service that created the attempts write `open`.
          await h.server.sweepOnce();
          for (const id of attemptIds) {
            const found = await findAttempt(h.database, id);
            const challenge = found === null ? null : await findChallenge(h.database, found.attempt.challengeId);
            if (found === null || challenge === null) throw new Error(`there is no attempt ${id}`);
            attempts.putTerms(challenge);
            attempts.put(found.attempt);
          }
        },
        report: (attemptId, score, operationId = newId()) =>
          settlements.submit({
            operationId,
            attemptId,
            tenant: TENANT,
            score,
            evidence: '{"replay":"x"}',
            idempotencyUse: null,
            feePosted: false,
          }),
      };
    },
    async traceOf(attemptId) {
      const [row] = await h.database.query<object>(
        {
          text: `
        select a.status, a.account_id, a.fee_generation, a.disqualified_at, o.receipt_id, w.id as award_id
        from attempts a left join outcomes o on o.attempt_id = a.id left join awards w on w.attempt_id = a.id
        where a.id = $1`,
        },
        [attemptId],
      );
      return { ...row, events: (await h.eventsOf(attemptId)).length };
    },
    async twoAttempts() {
      const challenge = await h.open({ dailyAttemptCap: 1_000 });
      const player = await h.player();
      const first = created(await h.create(challenge.id, player.ref));
      const second = created(await h.create(challenge.id, player.ref));
      return { first: first.id, second: second.id };
    },
  };
}

/** A call that reports one score. */
export function reportOf(attemptId: string, score: number) {
  const report = {
    operationId: newId(),
    attemptId,
    tenant: PROGRAM,
    score,
    tiebreak: undefined,
    evidenceJson: '',
    requestId: '',
    keyUse: undefined,
  };
  return { reports: [report] };
}
