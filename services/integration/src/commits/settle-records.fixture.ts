/**
 * Two replicas of the settlement on one real database, and contest services in memory that decide
 * on reports as the real ones do.
 */
import { type Refused, refused } from '@laurel/errors';
import type { OutcomeReport } from '@laurel/proto/attempts';
import { ENVIRONMENTS } from '@laurel/proto/enum-names';
import { newOwnedId } from '@laurel/values/ids';
import { isSameTenant, type Tenant } from '@laurel/values/tenant';
import { afterAll, beforeAll } from 'vitest';
import type { ContestServices } from '../clients/contest-services.ts';
import { startIntegrationDatabase } from '../database.fixture.ts';
import { createReportStore } from './report-store.ts';
import { createRecordSettler, type RecordSettler, type ReportSource } from './settle-records.ts';

type Player = { readonly playerRef: string; readonly parentId: string };
type OwnedAttempt = Player & {
  readonly id: string;
  readonly tenant: Tenant;
  hasEnded: boolean;
  readonly reports: OutcomeReport[];
};

/** Decides as docs/contract/rules.md and decision 23 say; fails and refuses when a test says so. */
export class ContestServicesInMemory implements ContestServices {
  readonly #attempts = new Map<string, OwnedAttempt>();
  readonly #keys = new Map<string, { readonly operationId: string; readonly fingerprint: Buffer }>();
  readonly #calibrating = new Set<string>();
  readonly #failures = new Map<string, 'before' | 'after'>();
  readonly #refusals = new Map<string, Refused>();
  #beforeNext: (() => Promise<void>) | undefined;
  #beforeFound: (() => Promise<void>) | undefined;

  open(tenant: Tenant, player: Player): string {
    const id = newOwnedId('challenge');
    this.#attempts.set(id, { ...player, id, tenant, hasEnded: false, reports: [] });
    return id;
  }

  end(id: string): void {
    const attempt = this.#attempts.get(id);
    if (attempt !== undefined) attempt.hasEnded = true;
  }

  calibrate(parentId: string): void {
    this.#calibrating.add(parentId);
  }

  /** Makes the next report on the attempt fail, before or after it is recorded. */
  failOn(id: string, when: 'before' | 'after'): void {
    this.#failures.set(id, when);
  }

  recover(): void {
    this.#failures.clear();
  }

  refuseNext(id: string, refusal: Refused): void {
    this.#refusals.set(id, refusal);
  }

  /** Runs before the next report is decided. */
  beforeNext(work: () => Promise<void>): void {
    this.#beforeNext = work;
  }

  /** Runs after the next list of open attempts was read and before it is returned. */
  beforeFound(work: () => Promise<void>): void {
    this.#beforeFound = work;
  }

  /** The reports that settled the attempt, at most one. */
  reportsOf(id: string): readonly OutcomeReport[] {
    return this.#attempts.get(id)?.reports ?? [];
  }

  async reportOutcome(report: OutcomeReport): ReturnType<ContestServices['reportOutcome']> {
    const work = this.#beforeNext;
    this.#beforeNext = undefined;
    await work?.();
    const failure = this.#failures.get(report.attemptId);
    this.#failures.delete(report.attemptId);
    if (failure === 'before') throw new Error('the contest service is unreachable');
    const decided = this.#decide(report);
    if (failure === 'after') throw new Error('the contest service is unreachable');
    return decided;
  }

  async findOpenAttempts({ tenant, playerRef, parent }: Parameters<ContestServices['findOpenAttempts']>[0]) {
    const attemptIds = [...this.#attempts.values()]
      .filter((attempt) => isSameTenant(attempt.tenant, tenant) && attempt.playerRef === playerRef)
      .filter(({ parentId, hasEnded, reports }) => parentId === parent.id && !hasEnded && reports.length === 0)
      .map(({ id }) => id)
      .slice(0, 2);
    const found = { attemptIds, isCalibrating: this.#calibrating.has(parent.id) };
    const work = this.#beforeFound;
    this.#beforeFound = undefined;
    await work?.();
    return found;
  }

  #decide(report: OutcomeReport): Awaited<ReturnType<ContestServices['reportOutcome']>> {
    const { attemptId, operationId, keyUse, tenant } = report;
    const attempt = this.#attempts.get(attemptId);
    const known = keyUse === undefined ? undefined : this.#keys.get(keyUse.keyId);
    if (
      known !== undefined &&
      known.operationId !== operationId &&
      !known.fingerprint.equals(keyUse?.fingerprint ?? known.fingerprint)
    )
      return refused('idempotency_key_reused');
    if (attempt === undefined || attempt.tenant.programId !== tenant?.programId) return refused('not_found');
    if (ENVIRONMENTS[attempt.tenant.environment] !== tenant.environment) return refused('not_found');
    const refusal = this.#refusals.get(attemptId);
    this.#refusals.delete(attemptId);
    if (refusal !== undefined) return refusal;
    const [recorded] = attempt.reports;
    if (attempt.hasEnded || (recorded !== undefined && recorded.operationId !== operationId))
      return refused('attempt_already_settled');
    if (recorded === undefined) attempt.reports.push(report);
    if (keyUse !== undefined) this.#keys.set(keyUse.keyId, { operationId, fingerprint: keyUse.fingerprint });
    return {
      attemptId,
      score: (recorded ?? report).score,
      metThreshold: false,
      thresholdApplied: undefined,
      recordedAt: new Date(0),
      receiptId: operationId,
      award: undefined,
      repeated: recorded !== undefined,
    };
  }
}

export interface SettlingHarness {
  readonly contests: ContestServicesInMemory;
  readonly settler: RecordSettler;
  /** A second replica on the same database. */
  readonly otherSettler: RecordSettler;
  /** An integration of type push_webhook, in the test environment. */
  readonly source: ReportSource;
  countPairs(): Promise<bigint>;
  countPairsOf(attemptId: string): Promise<bigint>;
  /** Deletes the pairs, as if the database had lost its newest commits. */
  losePairs(): Promise<void>;
  samplesOf(challengeId: string): Promise<readonly object[]>;
}

/** Sets up one test file, whose tests share the integration and the contest services. */
export function useSettling(): SettlingHarness {
  const settling = {} as SettlingHarness;
  const stack = new AsyncDisposableStack();
  beforeAll(async () => {
    Object.assign(settling, await startSettling(stack));
  });
  afterAll(() => stack.disposeAsync());
  return settling;
}

async function startSettling(stack: AsyncDisposableStack): Promise<SettlingHarness> {
  const { superuser, connect, newIntegration } = await startIntegrationDatabase(stack);
  const { id: integrationId, tenant } = await newIntegration();
  const contests = new ContestServicesInMemory();
  const newSettler = () =>
    createRecordSettler({ contests, store: createReportStore({ database: connect() }), clock: () => new Date() });
  const count = async (text: string, values: readonly unknown[] = []) => {
    const [row] = await superuser.query<{ pairs: bigint }>({ text }, values);
    return row?.pairs ?? 0n;
  };
  return {
    contests,
    settler: newSettler(),
    otherSettler: newSettler(),
    source: { integrationId, tenant, requestId: 'r' },
    countPairs: () => count('select count(*) as pairs from report_attempts'),
    countPairsOf: (id) => count('select count(*) as pairs from report_attempts where attempt_id = $1', [id]),
    async losePairs() {
      await superuser.query({ text: 'delete from report_attempts' });
    },
    samplesOf: (id) => superuser.query(SAMPLES, [id]),
  };
}

const SAMPLES = {
  text: `
select program_id, environment, player_ref, score from listened_samples where challenge_id = $1 order by received_at`,
};
