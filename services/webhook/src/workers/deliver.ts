/**
 * The dispatcher: sends what is due, as domain/delivery.ts tells, and lets no endpoint wait for another (domain/slots.ts).
 *
 *   queue    endpoints that may have something due. Take-in and the portal's calls put them there at once; every 30 seconds the sweep adds
 *            those with retries that have come due, with leases whose process died, and whatever another replica left behind
 *   claim    one durable statement for every place that is free: it raises the number of the send and takes its lease
 *   send     outside of any transaction, with the URL and the secret that the claim read
 *   record   one statement for all sends that ended meanwhile, not durable
 *
 * A crash after the claim leaves a lease. When it is over the sweep finds the delivery, and the send counts as made: it may have arrived.
 * Replicas need not know of each other: a claim skips what another one holds.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { createCoalescer } from '@laurel/coalesce';
import type { Egress, EgressResult } from '@laurel/egress';
import type { Encryption } from '@laurel/encryption';
import { failpoint } from '@laurel/failpoint';
import { type Database, isConnectionFailure } from '@laurel/postgres';
import type { Clock, Logger } from '@laurel/service';
import { counter, gauge, histogram } from '@laurel/telemetry';
import { decideResult, ERROR_SENTENCES, type Send, type SendEnd } from '../domain/delivery.ts';
import type { RetryDelaysMs } from '../domain/retry-schedule.ts';
import { composeHeaders } from '../domain/send-headers.ts';
import { secretOwner } from '../domain/signing-secret.ts';
import { createSlots, type Ended, type Room, standingAfter, type Usage } from '../domain/slots.ts';
import { type Claim, claimSends, findEndpointsWithDue, recordSends, type SendRecord } from '../repository/sends.ts';

export type DispatcherDeps = {
  readonly database: Database;
  readonly egress: Egress;
  readonly encryption: Encryption;
  readonly clock: Clock;
  readonly logger: Logger;
  /** From a send's beginning to the end of the answer that is read. */
  readonly timeoutMs: number;
  readonly retryDelaysMs: RetryDelaysMs;
  /** Sends that may be in flight to one endpoint, and in all. */
  readonly sendsPerEndpoint: number;
  readonly sends: number;
};

export interface Dispatcher extends AsyncDisposable {
  /** These endpoints may have something due: it is sent as soon as there is a place. Never throws, never waits. */
  wake(endpointIds: readonly string[]): void;
  /** The sweep: wakes every endpoint that has something due, whoever put it there. */
  runOnce(now: Date): Promise<void>;
  /** Resolves once nothing that this process knows of is due, and every send that it began has ended and is recorded. */
  whenIdle(): Promise<void>;
}

/** What a send may take beyond its timeout until it is recorded: longer than a busy process or a slow commit ever needs. */
const LEASE_MARGIN_MS = 10_000;
/** The body of an answer is read up to here; the log shows its beginning. */
const MAX_ANSWER_BYTES = 16 * 1_024;
/** How long the database is left alone after it has failed. */
const TRY_AGAIN_MS = 500;
/** Over more time than a lease is long, after which the ends are of no use any more. */
const RECORD_TRIES = 40;
const SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

export function createDispatcher(deps: DispatcherDeps): Dispatcher {
  const { database, egress, encryption, clock, logger, timeoutMs, retryDelaysMs, sends, sendsPerEndpoint } = deps;
  const metrics = createMetrics();
  const slots = createSlots({ sends, sendsPerEndpoint });
  const recorder = createCoalescer<SendRecord, void>({
    name: 'webhook.record',
    // A statement that one bad row fails is repeated row by row; a database that is away would fail each of them as well.
    isolate: (error) => !isConnectionFailure(error),
    run: async (records) => {
      await record(records);
      return records.map(() => undefined);
    },
  });

  let isClaiming = false;
  let isStopping = false;
  let nextClaim: NodeJS.Immediate | undefined;
  let claimAgain: NodeJS.Timeout | undefined;
  let waiting: { readonly isOver: () => boolean; readonly resolve: () => void }[] = [];

  const isQuiet = () => !isClaiming && slots.inFlight === 0;
  const isIdle = () => isQuiet() && slots.queued === 0 && nextClaim === undefined;

  function wake(endpointIds: readonly string[]): void {
    for (const endpointId of endpointIds) slots.enqueue(endpointId);
    claimSoon();
  }

  /** On the next turn of the event loop, so that all that this one brings goes into one claim. */
  function claimSoon(): void {
    if (isClaiming || isStopping || slots.queued === 0) return;
    nextClaim ??= setImmediate(() => {
      nextClaim = undefined;
      void claim();
    });
  }

  async function claim(): Promise<void> {
    const dealt = slots.deal();
    if (dealt.length === 0) return;
    isClaiming = true;
    let claimed: Claim | undefined;
    try {
      claimed = await claimDealt(dealt);
    } catch (error) {
      logger.error({ err: error, endpoints: dealt.length }, 'sends could not be claimed');
    }
    isClaiming = false;
    slots.settle(dealt, (room) => usageOf(room, claimed));
    metrics.waiting.set(slots.queued);
    for (const send of claimed?.sends ?? []) void deliver(send);
    if (claimed === undefined) claimLater();
    else claimSoon();
    tellWaiting();
  }

  async function claimDealt(dealt: readonly Room[]): Promise<Claim> {
    const now = clock();
    const leasedUntil = new Date(now.getTime() + timeoutMs + LEASE_MARGIN_MS);
    await failpoint('webhook.claim.before-commit');
    const claimed = await claimSends(database, dealt, { now, leasedUntil });
    await failpoint('webhook.claim.after-commit');
    return claimed;
  }

  function claimLater(): void {
    claimAgain ??= setTimeout(() => {
      claimAgain = undefined;
      claimSoon();
    }, TRY_AGAIN_MS);
  }

  /** Never rejects. What fails on our side leaves the lease behind, as a crash would. */
  async function deliver(send: Send): Promise<void> {
    metrics.inFlight.set(slots.inFlight);
    let ended: SendRecord | undefined;
    try {
      ended = await sendOnce(send);
    } catch (error) {
      logger.error({ err: error, delivery: send.deliveryId }, 'a send failed on our side');
    }
    slots.free(send.endpointId, ended === undefined ? 'failing' : standingOf(ended));
    metrics.inFlight.set(slots.inFlight);
    claimSoon();
    if (ended !== undefined) {
      // Its failure was logged with the batch.
      await recorder.submit(ended).catch(() => undefined);
    }
    tellWaiting();
  }

  async function sendOnce(send: Send): Promise<SendRecord> {
    const secret = encryption.decrypt(send.sealedSecret, secretOwner(send.endpointId));
    await failpoint('webhook.send.before-request');
    const begunAt = performance.now();
    const answer = await egress.request({
      method: 'POST',
      url: send.url,
      headers: composeHeaders(send, secret, clock()),
      body: send.body,
      timeoutMs,
      maxBodyBytes: MAX_ANSWER_BYTES,
    });
    const durationMs = performance.now() - begunAt;
    await failpoint('webhook.send.after-request');
    const result = decideResult(endOf(answer), send.number, clock(), retryDelaysMs);
    metrics.sends.inc({ outcome: result.error?.kind ?? 'delivered' });
    metrics.duration.observe(durationMs / 1_000);
    return { send, durationMs, phases: answer.timings, result };
  }

  /**
   * While the database is away the ends are kept, because a send whose end is lost is made again. Recorded twice, or too late, an end
   * changes nothing.
   */
  async function record(records: readonly SendRecord[]): Promise<void> {
    for (let triesLeft = RECORD_TRIES; ; ) {
      try {
        await failpoint('webhook.record.before-commit');
        await recordSends(database, records);
        await failpoint('webhook.record.after-commit');
        return;
      } catch (error) {
        triesLeft -= 1;
        logger.error({ err: error, sends: records.length, triesLeft }, 'the ends of sends could not be recorded');
        if (!isConnectionFailure(error) || triesLeft === 0 || isStopping) throw error;
        await sleep(TRY_AGAIN_MS);
      }
    }
  }

  function tellWaiting(): void {
    if (waiting.length === 0) return;
    const over = waiting.filter(({ isOver }) => isOver());
    waiting = waiting.filter((one) => !over.includes(one));
    for (const { resolve } of over) resolve();
  }

  async function until(isOver: () => boolean): Promise<void> {
    while (!isOver()) await new Promise<void>((resolve) => waiting.push({ isOver, resolve }));
    await recorder.drain();
  }

  return {
    wake,
    async runOnce(now) {
      wake(await findEndpointsWithDue(database, now));
    },
    whenIdle: () => until(isIdle),
    async [Symbol.asyncDispose]() {
      isStopping = true;
      clearImmediate(nextClaim);
      nextClaim = undefined;
      clearTimeout(claimAgain);
      await until(isQuiet);
    },
  };
}

/** A claim that failed used nothing, and says nothing of what is due. */
function usageOf({ endpointId, room }: Room, claimed: Claim | undefined): Usage {
  if (claimed === undefined) return { used: 0, isDrained: false };
  const { rows, sends } = claimed.taken.get(endpointId) ?? { rows: 0, sends: 0 };
  return { used: sends, isDrained: rows < room };
}

function standingOf({ result, durationMs }: SendRecord): Ended {
  return standingAfter({ isSuccess: result.error === null, durationMs });
}

function endOf(answer: EgressResult): SendEnd {
  if (answer.kind === 'answer') return { kind: 'answer', status: answer.status, body: answer.body };
  const { error, message } = answer;
  // This process is stopping, which is not the endpoint's fault.
  if (error === 'aborted') return { kind: 'failure', error: 'interrupted', sentence: ERROR_SENTENCES.interrupted };
  return { kind: 'failure', error, sentence: message };
}

function createMetrics() {
  return {
    sends: counter('laurel_webhook_sends_total', 'Sends that ended, by outcome: delivered, or the kind of error.', [
      'outcome',
    ]),
    duration: histogram(
      'laurel_webhook_send_duration_seconds',
      'From the beginning of a send to the end of its answer.',
      SECONDS,
    ),
    inFlight: gauge('laurel_webhook_sends_in_flight', 'Sends that have begun and not ended.'),
    waiting: gauge('laurel_webhook_endpoints_waiting', 'Endpoints that may have something due.'),
  };
}
