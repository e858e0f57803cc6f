/**
 * Settles the records of a pushed body or of a polled page, both in one way. A contest service
 * settles each record, under an operation id that derives from the report's identity
 * (domain/report-identity.ts). So it recognises a repeated report itself.
 *
 * These are the steps, with what a crash after each leaves. In every case the partner sends the
 * body again, or the poll reads its page again, because it got no response.
 *
 * 1. Verify (a push: handlers/receive-pushes.ts) and read the body. A crash leaves nothing.
 * 2. Find the attempt: the record names it, or the report's hash is known, or the contest service
 *    lists the player's open attempts. A crash leaves nothing: the report is bound to no attempt
 *    yet, and may find another one when it is sent again. Neither attempt is settled.
 * 3. Commit the pair (report, attempt) in `report_attempts`, durably; skipped if the record names
 *    its attempt. The attempt is open and the report is bound to it for good: sent again, it
 *    settles this attempt or none.
 * 4. Settle at the contest service. The attempt is settled, once. Sent again, the report derives
 *    the same operation id, and the contest service returns `repeated`: a `duplicate`. (Lost pairs:
 *    see below.)
 * 5. Respond. Nothing is left to do; a lost response leads to step 4.
 * 6. Log. A lost entry is missing in the log, and affects no decision.
 *
 * If this service's database loses its newest pairs with its disk, a repeated report may find
 * another attempt. Then the contest service refuses it: it recorded the report as the use of a key
 * when it committed the outcome, and keeps that for 24 hours. The pair that step 3 committed for
 * the other attempt stays. So after the 24 hours the report settles that attempt, if its hour has
 * not passed, or none. Only a report that is first sent again after the 24 hours settles whichever
 * attempt is open (docs/operations/lost-second.md, "Integration database").
 *
 * Reports that name the same player and parent are settled one after the other, so that two of
 * them, in one body or in two, find two attempts. Two replicas may find the same attempt for two
 * reports: one report settles it, and the other is refused with `attempt_already_settled`.
 *
 * A refused record does not affect the others. If the service itself fails on a record (the contest
 * service or the database is unreachable), the others are still tried, and then all of them count
 * as failed. The partner gets no results; the records that were settled are duplicates later.
 */
import { createCoalescer, createCoalescersByEnvironment } from '@laurel/coalesce';
import { isRefused, type Refused, refused } from '@laurel/errors';
import { presentTenant } from '@laurel/grpc';
import type { SettledRecord } from '@laurel/proto/integration';
import type { Clock } from '@laurel/service';
import type { Tenant } from '@laurel/values/tenant';
import type { ContestServices } from '../clients/contest-services.ts';
import { chooseAttempt } from '../domain/attempt-choice.ts';
import type { PointerFailure } from '../domain/json-body.ts';
import type { ReadRecord } from '../domain/read-body.ts';
import type { RecordResult } from '../domain/record-result.ts';
import { operationIdOf, reportHashOf } from '../domain/report-identity.ts';
import { keyUseOf, type ReportName } from '../domain/report-key.ts';
import { failpoint } from '../failpoints.ts';
import type { ReportStore } from './report-store.ts';

/** The integration that received the records. */
export type ReportSource = {
  readonly integrationId: string;
  readonly tenant: Tenant;
  /** The id of the request, for the contest service's logs. */
  readonly requestId: string;
};

export type RecordEnd = {
  readonly result: RecordResult;
  /** The outcome, if the record settled its attempt, now or before; otherwise null. */
  readonly settled: SettledRecord | null;
  /** Whether the same report was settled or kept before. */
  readonly isRepeated: boolean;
};

export interface RecordSettler {
  /**
   * Returns the end of each record, in order. Rejects if the service failed on any of them; the
   * caller may then send the same records again.
   */
  settle(source: ReportSource, records: readonly ReadRecord[]): Promise<readonly RecordEnd[]>;
}

type Report = Extract<ReadRecord, { readonly kind: 'report' }>;
type Player = Extract<Report['attempt'], { readonly kind: 'player' }>;
type ReportOfPlayer = { readonly source: ReportSource; readonly report: Report; readonly player: Player };

/** The end of a record, without its index. */
type End = {
  readonly result: Omit<RecordResult, 'index'>;
  readonly settled: SettledRecord | null;
  readonly isRepeated: boolean;
};

/**
 * How many players' reports are settled concurrently, per environment. Each takes some
 * milliseconds.
 */
const PLAYERS_AT_A_TIME = 200;
/** More reports would time out, so they fail immediately. */
const MAX_QUEUED = 5_000;
/** The deadline of a report that names a player, from its arrival until its end. */
const DEADLINE_MS = 8_000;

export function createRecordSettler(deps: {
  readonly contests: ContestServices;
  readonly store: ReportStore;
  readonly clock: Clock;
}): RecordSettler {
  const { contests, store, clock } = deps;

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

  async function settleRecord(source: ReportSource, record: ReadRecord): Promise<End> {
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
    const found = await contests.findOpenAttempts({ tenant, playerRef, parent, requestId: source.requestId });
    const choice = isRefused(found) ? found : chooseAttempt(found, player.pick);
    if (isRefused(choice)) return rejected(null, choice);
    if (choice.kind === 'listened') {
      await store.listen({ ...key, tenant, challengeId: parent.id, playerRef, score, receivedAt: clock() });
      return unsettled('listened');
    }
    const attemptId = await store.bind({ ...key, attemptId: choice.attemptId, createdAt: clock() });
    return await settleAttempt(source, report, attemptId, name);
  }

  /** `name` is set if the report named a player and its attempt was found. */
  async function settleAttempt(
    { tenant, requestId }: ReportSource,
    report: Report,
    attemptId: string,
    name: ReportName | null,
  ): Promise<End> {
    const { score, tiebreak, evidenceJson } = report;
    const reported = { attemptId, score, tiebreak };
    await failpoint('integration.settle.before-call');
    const outcome = await contests.reportOutcome({
      ...reported,
      operationId: operationIdOf({ ...report, attemptId, tenant }),
      tenant: presentTenant(tenant),
      evidenceJson,
      requestId,
      // Declares the use to be the key's first. So a report that was recorded with another attempt
      // or score is refused, and never recorded again.
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
      const ends = await Promise.allSettled(records.map((record) => settleRecord(source, record)));
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

/**
 * If the report's key was used before, the report has already settled an attempt, with this score
 * or another.
 */
function settlementRefusal(refusal: Refused): Refused {
  return refusal.code === 'idempotency_key_reused' ? refused('attempt_already_settled') : refusal;
}
