/**
 * Shortens waits that would take too long in a test: retries, the leases of sends, and the
 * acknowledgements of events.
 */
import { setTimeout as delay } from 'node:timers/promises';
import type { Stack } from '@laurel/testing';
import { nanos } from 'nats';
import { eventually } from '../world.ts';
import { withBroker } from './broker.ts';

/** The durable consumer of the webhook service. */
const CONSUMER = 'webhook';
/** Shorter than any real setting, so that an unacknowledged event is redelivered immediately. */
const SOON = nanos(100);

/**
 * Ends the leases of sends, either those with this number or those that began before this moment.
 */
export async function lapseLeases(
  stack: Stack,
  which: { readonly number: number } | { readonly begunBefore: Date },
): Promise<void> {
  const [condition, value] =
    'number' in which ? ['attempts = $1', which.number] : ['sending_since < $1', which.begunBefore];
  await stack.database('webhook').query(
    `update deliveries set leased_until = clock_timestamp()
     where status = 'pending' and leased_until is not null and ${condition}`,
    [value],
  );
}

/** Ends the leases of polls that began before this moment. */
export async function lapsePollLeases(stack: Stack, begunBefore: Date): Promise<void> {
  await stack.database('integration').query(
    `update integrations set leased_until = clock_timestamp()
     where leased_until is not null and last_polled_at < $1`,
    [begunBefore],
  );
}

/**
 * Makes the stream redeliver events that the webhook service got and did not acknowledge, because
 * it died or its connection broke. Resolves once none is left.
 */
export async function lapseAcknowledgements(stack: Stack, deadlineMs?: number): Promise<void> {
  await eventually(
    () =>
      withBroker(stack, async ({ consumers }, stream) => {
        const { config, num_ack_pending } = await consumers.info(stream, CONSUMER);
        const isSoon = config.ack_wait === SOON;
        if (num_ack_pending > 0 && !isSoon) await consumers.update(stream, CONSUMER, { ack_wait: SOON });
        if (num_ack_pending === 0 && isSoon) await consumers.update(stream, CONSUMER, { ack_wait: nanos(10_000) });
        return num_ack_pending === 0 || undefined;
        // The server, the stream and the consumer recover on their own schedules.
      }).catch(() => undefined),
    'everything that the stream delivered is acknowledged',
    deadlineMs,
  );
}

/** Until disposed of, makes each retry of a delivery due as soon as it is scheduled. */
export function makeRetriesDue(stack: Stack): AsyncDisposable {
  const stop = new AbortController();
  const running = (async () => {
    while (!stop.signal.aborted) {
      await stack.database('webhook').query(
        `update deliveries set next_attempt_at = clock_timestamp()
         where status = 'pending' and leased_until is null and next_attempt_at > clock_timestamp()`,
      );
      await delay(20);
    }
  })();
  return {
    [Symbol.asyncDispose]: async () => {
      stop.abort();
      await running;
    },
  };
}
