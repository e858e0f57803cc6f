import { setImmediate as nextTurn } from 'node:timers/promises';
import { type Refused, refused } from '@laurel/errors';
import { Environment } from '@laurel/proto/common';
import type { PutSandboxPlayerRequest, PutSandboxPlayerResponse } from '@laurel/proto/wallet';
import { expect, test } from 'vitest';
import { createSandboxPlayers } from './sandbox-players.ts';

const requestFor = (playerRef: string) =>
  ({
    player: { tenant: { programId: 'p', environment: Environment.TEST }, playerRef },
    fundsCents: 0n,
    clearSelfExclusion: false,
  }) as unknown as PutSandboxPlayerRequest;

test('concurrent sandbox players reach the wallet four at a time, in the order of the requests', async () => {
  const underWay: { playerRef: string; end: () => void }[] = [];
  const seen: string[] = [];
  const players = createSandboxPlayers({
    async putSandboxPlayer({ player }) {
      const playerRef = player?.playerRef ?? '';
      seen.push(playerRef);
      await new Promise<void>((end) => underWay.push({ playerRef, end }));
      return { accountId: playerRef } as PutSandboxPlayerResponse;
    },
  });
  const refs = Array.from({ length: 30 }, (_, index) => `player-${index}`);
  const answers = Promise.all(refs.map((ref) => players.put(requestFor(ref), { requestId: ref })));
  let most = 0;
  for (let ended = 0; ended < refs.length; ) {
    await nextTurn();
    most = Math.max(most, underWay.length);
    const first = underWay.shift();
    if (first === undefined) continue;
    first.end();
    ended += 1;
  }
  expect((await answers).map((answer) => (answer as PutSandboxPlayerResponse).accountId)).toEqual(refs);
  expect(seen).toEqual(refs);
  expect(most).toBe(4);
  await players[Symbol.asyncDispose]();
});

test('each sandbox player gets a separate result, refusal or failure', async () => {
  const players = createSandboxPlayers({
    async putSandboxPlayer({ player }): Promise<PutSandboxPlayerResponse | Refused> {
      if (player?.playerRef === 'refused') return refused('conflict');
      if (player?.playerRef === 'failed') throw new Error('the connection broke');
      return { accountId: 'a' } as PutSandboxPlayerResponse;
    },
  });
  const answers = await Promise.allSettled(
    ['made', 'refused', 'failed', 'made'].map((ref) => players.put(requestFor(ref), { requestId: ref })),
  );
  expect(answers).toMatchObject([
    { value: { accountId: 'a' } },
    { value: { code: 'conflict' } },
    { reason: { message: 'the connection broke' } },
    { value: { accountId: 'a' } },
  ]);
});
