import { natsUrl } from '@laurel/service';
import { z } from 'zod';
import { EVENTS_PREFIX_PATTERN, EVENTS_PREFIX_RULE } from './stream.ts';

/** The settings of a service that publishes or consumes events. No call waits for NATS. */
export const eventStreamSettings = {
  /** The URL of NATS with this service's user; several servers are separated by commas. */
  NATS_URL: natsUrl,
  /** A PEM file with the CA of NATS's certificate; without it the connection is not encrypted. */
  NATS_CA_FILE: z.string().optional(),
  /** The name of the event stream and its subjects; one broker can carry several stacks. */
  EVENTS_PREFIX: z.string().regex(EVENTS_PREFIX_PATTERN, EVENTS_PREFIX_RULE).default('laurel'),
};
