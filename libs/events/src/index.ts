/**
 * Events, from the commit that makes them true to the service that consumes them: outbox, stream,
 * relay, consumer.
 */

export { inboxPrefixOf, parseNatsUrl } from './connection.ts';
export { type ConsumerOptions, startConsumer } from './consumer.ts';
export { type EventType, eventIdOf, eventTypeOf } from './event-type.ts';
export { createOutbox, DEFAULT_REPUBLISH_AFTER_MS, type Outbox } from './outbox.ts';
export type { OutboxRow } from './repository/outbox.ts';
export { eventStreamSettings } from './settings.ts';
export { connectEvents, type EventStream } from './stream.ts';
