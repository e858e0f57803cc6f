/** Moves along what would take too long to wait for: the leases of sends, and the acknowledgements of events. */
import type { Stack } from '@laurel/testing';
import { nanos } from 'nats';
import { eventually } from '../world.ts';
import { withBroker } from './broker.ts';

/** The durable consumer of the webhook service. */
const CONSUMER = 'webhook';
/** Shorter than anybody would configure it, so that what was not acknowledged is delivered again at once. */
const SOON = nanos(100);

/** The leases of sends are over: of those of this number, or of those that began before this moment. */
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

/**
 * The stream delivers again what the webhook service had and did not acknowledge, because it died or its connection broke. Resolves once
 * nothing of that is left.
 */
export async function lapseAcknowledgements(stack: Stack): Promise<void> {
  await eventually(
    () =>
      withBroker(stack, async ({ consumers }, stream) => {
        const { config, num_ack_pending } = await consumers.info(stream, CONSUMER);
        const isSoon = config.ack_wait === SOON;
        if (num_ack_pending > 0 && !isSoon) await consumers.update(stream, CONSUMER, { ack_wait: SOON });
        if (num_ack_pending === 0 && isSoon) await consumers.update(stream, CONSUMER, { ack_wait: nanos(10_000) });
        return num_ack_pending === 0 || undefined;
        // The server, the stream and the consumer come back in their own time.
      }).catch(() => undefined),
    'everything that the stream delivered is acknowledged',
  );
}
