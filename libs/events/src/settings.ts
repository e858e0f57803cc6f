import { natsUrl } from '@laurel/service';
import { z } from 'zod';
import { EVENTS_PREFIX, EVENTS_PREFIX_RULE } from './stream.ts';

/** Where a service publishes or consumes events. No call waits for it. */
export const eventStreamSettings = {
  /** With the user that has this service's permissions; several servers are separated by commas. */
  NATS_URL: natsUrl,
  /** The CA of the certificate that NATS must present, as a PEM file; without it the connection is not encrypted. */
  NATS_CA_FILE: z.string().optional(),
  /** The name of the stream of events and of its subjects; one broker can carry several stacks. */
  EVENTS_PREFIX: z.string().regex(EVENTS_PREFIX, EVENTS_PREFIX_RULE).default('laurel'),
};
