/**
 * Settles the records of a pushed body or of a polled page: one way for both. A record is settled at the owner of its attempt, under an
 * operation id that is derived from what identifies the report (domain/report-identity.ts), so that the owner itself answers a repetition.
 *
 * The steps, and what a crash after each of them leaves behind. In every case the partner sends the body again, or the poll reads its page
 * again, because it was not answered.
 *
 * 1. Verify (a push: handlers/receive-pushes.ts) and read the body. Nothing.
 * 2. Find the attempt: the record names it; or the report's hash is known; or the owner lists the player's open attempts. Nothing: the
 *    report stands for no attempt yet, and may be found to stand for another when it is sent again. Neither is settled.
 * 3. Commit the pair (report, attempt) in `report_attempts`, with the disk; not where the record names its attempt. The attempt is open and
 *    the report stands for it for good: sent again, it settles this attempt or none.
 * 4. Settle at the owner. The attempt is settled, once. Sent again, the report derives the same operation id, and the owner answers
 *    `repeated`: `duplicate`. If the newest pairs were lost with the disk of this service's database, the report may be found to stand for
 *    another attempt: then the owner, which recorded the report as the use of a key in its commit and keeps that for 24 hours, refuses it.
 *    The pair that step 3 committed for it stays, so that after them the report settles that attempt, if its hour has not passed, or none.
 *    Only one that is sent again first after them settles whichever is open (docs/operations/lost-second.md, "Integration database").
 * 5. Answer. Nothing is owed any more; an answer that is lost leads to step 4.
 * 6. Log. An entry that is lost is missing in the log, and decides nothing.
 *
 * Reports that name the same player and parent are taken one after the other, so that two of them, in one body or in two, find two attempts.
 * Two replicas may find the same attempt for two reports: one settles it, and the other is answered `attempt_already_settled`.
 *
 * A record that is refused leaves the others alone. When the service itself fails on a record (the owner or the database is unreachable),
 * the others are still tried, and then all of them count as failed: nothing is answered, and those that were settled are duplicates later.
 */
import { createCoalescer, createCoalescersByEnvironment } from '@laurel/coalesce';
import { isRefused, type Refused, refused } from '@laurel/errors';
import { presentTenant } from '@laurel/grpc';
import type { SettledRecord } from '@laurel/proto/integration';
import type { Clock } from '@laurel/service';
import type { Tenant } from '@laurel/tenant';
import type { Owners } from '../clients/owners.ts';
import { chooseAttempt } from '../domain/attempt-choice.ts';
import type { PointerFailure } from '../domain/json-body.ts';
import type { ReadRecord } from '../domain/read-body.ts';
import type { RecordResult } from '../domain/record-result.ts';
import { operationIdOf, reportHashOf } from '../domain/report-identity.ts';
import { keyUseOf, type ReportName } from '../domain/report-key.ts';
import { failpoint } from '../failpoints.ts';
import type { ReportStore } from './report-store.ts';

/** The integration that the records came through. */
export type ReportSource = {
  readonly integrationId: string;
  readonly tenant: Tenant;
  /** For the owner's logs. */
  readonly requestId: string;
};

export type RecordEnd = {
  readonly result: RecordResult;
  /** The outcome, where the record settled its attempt, now or before; null otherwise. */
  readonly settled: SettledRecord | null;
  /** Whether the same report was settled or kept before. */
  readonly isRepeated: boolean;
};

export interface RecordSettler {
  /** One end for each record, in order. Rejects when the service failed on any of them; the same records may be sent again. */
  settle(source: ReportSource, records: readonly ReadRecord[]): Promise<readonly RecordEnd[]>;
}

type Report = Extract<ReadRecord, { readonly kind: 'report' }>;
type Player = Extract<Report['attempt'], { readonly kind: 'player' }>;
type ReportOfPlayer = { readonly source: ReportSource; readonly report: Report; readonly player: Player };

/** A record's end without its place. */
type End = {
  readonly result: Omit<RecordResult, 'index'>;
  readonly settled: SettledRecord | null;
  readonly isRepeated: boolean;
};

/** Reports of different players at a time, in each environment, each for some milliseconds. */
const PLAYERS_AT_A_TIME = 200;
/** Reports beyond it would time out, and fail immediately. */
const MAX_QUEUED = 5_000;
/** For a report that names a player, from its arrival to its end. */
const DEADLINE_MS = 8_000;

export function createRecordSettler(deps: {
  readonly owners: Owners;
  readonly store: ReportStore;
  readonly clock: Clock;
}): RecordSettler {
  const { owners, store, clock } = deps;

  const ofPlayers = createCoalescersByEnvironment<ReportOfPlayer, End>({
    environmentOf: ({ source }) => source.tenant.environment,
    create: () =>
      createCoalescer({
        name: 'integration.reports-of-players',
        maxItems: 1,
        lanes: PLAYERS_AT_A_TIME,
        maxQueued: MAX_QUEUED,
        isolate: false,
        keyOf: ({ source: { tenant }, player: { parent, playerRef } }) =>
          `${tenant.programId} ${parent.id} ${playerRef}`,
        run: (items) => Promise.all(items.map(settleOfPlayer)),
      }),
  });

  async function endOf(source: ReportSource, record: ReadRecord): Promise<End> {
    if (record.kind === 'ignored') return unsettled('ignored');
    if (record.kind === 'unreadable') return rejected(null, unreadable(record.failure));
    const { attempt } = record;
    if (attempt.kind === 'id') return await settleAttempt(source, record, attempt.attemptId, null);
    const ofPlayer = { source, report: record, player: attempt };
    return await ofPlayers.submit(ofPlayer, { deadlineAt: Date.now() + DEADLINE_MS });
  }

  async function settleOfPlayer({ source, report, player }: ReportOfPlayer): Promise<End> {
    const { integrationId, tenant } = source;
    const { dedupe, score } = report;
    if (dedupe === null) throw new Error('a report that names a player has nothing to be known by');
    const name = { integrationId, dedupe };
    const key = { integrationId, reportHash: reportHashOf(integrationId, dedupe) };
    const known = await store.find(key);
    if (known?.kind === 'listened') return { ...unsettled('listened'), isRepeated: true };
    if (known !== null) return await settleAttempt(source, report, known.attemptId, name);

    const { playerRef, parent } = player;
    const found = await owners.findOpenAttempts({ tenant, playerRef, parent, requestId: source.requestId });
    const choice = isRefused(found) ? found : chooseAttempt(found, player.pick);
    if (isRefused(choice)) return rejected(null, choice);
    if (choice.kind === 'listened') {
      await store.listen({ ...key, tenant, challengeId: parent.id, playerRef, score, receivedAt: clock() });
      return unsettled('listened');
    }
    const attemptId = await store.bind({ ...key, attemptId: choice.attemptId, createdAt: clock() });
    return await settleAttempt(source, report, attemptId, name);
  }

  /** `name` is that of a report whose attempt was found. */
  async function settleAttempt(
    { tenant, requestId }: ReportSource,
    report: Report,
    attemptId: string,
    name: ReportName | null,
  ): Promise<End> {
    const { score, tiebreak, evidenceJson } = report;
    const reported = { attemptId, score, tiebreak };
    await failpoint('integration.settle.before-call');
    const outcome = await owners.reportOutcome({
      ...reported,
      operationId: operationIdOf({ ...report, attemptId, tenant }),
      tenant: presentTenant(tenant),
      evidenceJson,
      requestId,
      // As the first use of its key: a report that was recorded with another attempt or score is never recorded again.
      keyUse: name === null ? undefined : { ...keyUseOf(name, reported), isFirst: true, usedAt: clock() },
    });
    await failpoint('integration.settle.after-call');
    if (isRefused(outcome)) return rejected(attemptId, settlementRefusal(outcome));
    const status = outcome.repeated ? 'duplicate' : 'settled';
    const result = { status, attemptId, code: null, message: null } as const;
    return { result, settled: outcome, isRepeated: outcome.repeated };
  }

  return {
    async settle(source, records) {
      const ends = await Promise.allSettled(records.map((record) => endOf(source, record)));
      return ends.map((end, index) => {
        if (end.status === 'rejected') throw end.reason;
        const { result, ...others } = end.value;
        return { result: { index, ...result }, ...others };
      });
    },
  };
}

function unsettled(status: 'ignored' | 'listened'): End {
  return { result: { status, attemptId: null, code: null, message: null }, settled: null, isRepeated: false };
}

function rejected(attemptId: string | null, { code, message }: Refused): End {
  return { result: { status: 'rejected', attemptId, code, message }, settled: null, isRepeated: false };
}

function unreadable({ pointer, field, message }: PointerFailure): Refused {
  return refused('invalid_request', `${field}: \`${pointer}\` ${message}.`);
}

/** The report's key was used: the report, with this score or another, has settled an attempt before. */
function settlementRefusal(refusal: Refused): Refused {
  return refusal.code === 'idempotency_key_reused' ? refused('attempt_already_settled') : refusal;
}
