import { describe, expect, it } from 'vitest';
import { streamStateOf } from './stream.ts';

describe('the state of a stream', () => {
  const first_ts = '2026-01-02T03:04:05.678Z';
  const held = { messages: 3, first_ts, consumer_count: 1 };
  const oldestAt = new Date(first_ts);

  it.each([
    ['nothing when it is empty', { ...held, messages: 0 }, [], null],
    [
      'its oldest message while a consumer has not been given all',
      held,
      [{ num_pending: 2, num_ack_pending: 0 }],
      oldestAt,
    ],
    [
      'its oldest message while a consumer has not acknowledged all',
      held,
      [{ num_pending: 0, num_ack_pending: 1 }],
      oldestAt,
    ],
    [
      'nothing when all consumers are done, whatever a replica still keeps',
      held,
      [{ num_pending: 0, num_ack_pending: 0 }],
      null,
    ],
  ])('the state of a stream has %s', (_what, state, consumers, oldest) => {
    expect(streamStateOf(state, consumers)).toEqual({ oldestAt: oldest, isConsumed: true });
  });

  it('the state of a stream without a consumer says that it is not consumed', () => {
    expect(streamStateOf({ ...held, consumer_count: 0 }, [])).toEqual({ oldestAt, isConsumed: false });
  });
});
