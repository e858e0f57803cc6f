import { expect, test } from 'vitest';
import { waterfallOf } from './waterfall.ts';

test('each phase of a send is drawn from the end of the phase before it', () => {
  const phases = { dns_ms: 4, connect_ms: 30, wait_ms: 100, read_ms: 1 };
  const { spans, totalMs } = waterfallOf({ phases, duration_ms: 140 });
  expect(spans.map(({ startMs, ms }) => [startMs, ms])).toEqual([
    [0, 4],
    [4, 30],
    [34, 100],
    [134, 1],
  ]);
  expect(totalMs).toBe(140);
});

test('a phase that was not reached or not needed is not drawn', () => {
  const phases = { dns_ms: null, connect_ms: 12, wait_ms: 4_988, read_ms: null };
  const { spans, totalMs } = waterfallOf({ phases, duration_ms: 5_001 });
  expect(spans.map(({ startMs, ms }) => [startMs, ms])).toEqual([
    [0, 12],
    [12, 4_988],
  ]);
  expect(totalMs).toBe(5_001);
  const none = { dns_ms: null, connect_ms: null, wait_ms: null, read_ms: null };
  expect(waterfallOf({ phases: none, duration_ms: null })).toEqual({ spans: [], totalMs: 0 });
});

test('phases whose rounded lengths exceed the whole are all drawn inside the picture', () => {
  const phases = { dns_ms: 1, connect_ms: 1, wait_ms: 1, read_ms: 1 };
  expect(waterfallOf({ phases, duration_ms: 3 }).totalMs).toBe(4);
});
