import { expect, test } from 'vitest';
import { endpointSamples, linkSamples, reportSamples } from './next-calls.ts';

const TEST = { environment: 'test', origin: 'https://host.example' } as const;
const LIVE = { ...TEST, environment: 'live' } as const;
const textOf = (samples: readonly { readonly name: string; readonly text: string }[], name: string) =>
  samples.find((sample) => sample.name === name)?.text ?? '';

test('the sample calls contain the ids of the program', () => {
  const reported = reportSamples(LIVE, 'a-1');
  expect(textOf(reported, 'curl')).toContain("'https://host.example/v1/attempts/a-1/outcome'");
  expect(textOf(reported, 'SDK')).toContain("laurel.attempts.reportOutcome('a-1', { score: 100 })");
  expect(textOf(endpointSamples(LIVE, 'p-1'), 'curl')).toContain('"program_id":"p-1","environment":"live"');
});

test('only the sample calls for test create a sandbox player', () => {
  expect(textOf(linkSamples(TEST, 'p-1'), 'curl')).toContain('/api/sandbox/players');
  expect(textOf(linkSamples(TEST, 'p-1'), 'SDK')).toContain("email: 'player-1@p-1.example', funds: '50.00' }");
  expect(JSON.stringify(linkSamples(LIVE, 'p-1'))).not.toContain('sandbox');
});
