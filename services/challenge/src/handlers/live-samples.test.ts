/**
 * In live a sample counts only for an account that may play for money when the score arrives.
 * Otherwise a holder of an API key could invent any number of refs.
 */

import { type Challenge, ChallengeStatus, type ChallengeTerms, PrizeStructure } from '@laurel/proto/challenge';
import { Environment, type Tenant } from '@laurel/proto/common';
import { expectAccepted } from '@laurel/testing';
import { newId, newOwnedId } from '@laurel/values/ids';
import { describe, expect, it } from 'vitest';
import { created, PROGRAM, recorded, useHarness, verdictOf } from '../challenge.fixture.ts';
import { NOT_COUNTED, RECORDED } from './samples.fixture.ts';

const h = useHarness();
const LIVE: Tenant = { ...PROGRAM, environment: Environment.LIVE };

async function calibrating(terms: Partial<ChallengeTerms> = {}): Promise<string> {
  const { terms: example } = await h.open({
    minCalibrationN: 4,
    minCalibrationPlayers: 2,
    targetPassRate: 0.25,
    ...terms,
  });
  if (example === undefined) throw new Error('no terms in the answer');
  const request = { tenant: LIVE, terms: example, status: ChallengeStatus.CALIBRATING, threshold: undefined };
  return expectAccepted(await h.challenge.createChallenge(request)).challenge?.id ?? '';
}

async function read(challengeId: string): Promise<Challenge> {
  const { challenge } = expectAccepted(await h.challenge.getChallenge({ challengeId }));
  if (challenge === undefined) throw new Error('no challenge in the answer');
  return challenge;
}

const countsOf = async (challengeId: string) => {
  const { calibration } = await read(challengeId);
  return [calibration?.collected, calibration?.playersCollected];
};

type Facts = { readonly dateOfBirth?: string; readonly jurisdiction?: string; readonly verificationLevel?: number };

/** Creates a person's account, and a ref of the program that is linked to the account. */
async function person(
  facts: Facts = {},
): Promise<{ readonly ref: string; readonly email: string; readonly accountId: string }> {
  const email = `${newId()}@example.com`;
  const { account } = expectAccepted(
    await h.wallet.createAccount({
      email,
      dateOfBirth: '1990-01-01',
      jurisdiction: 'US-CA',
      verificationLevel: 1,
      ...facts,
    }),
  );
  const ref = `person-${newId()}`;
  await link(ref, email);
  return { ref, email, accountId: account?.id ?? '' };
}

const link = async (playerRef: string, email: string) =>
  expectAccepted(await h.wallet.putPlayerLink({ player: { tenant: LIVE, playerRef }, email }));

const openFree = async (challengeId: string, ref: string) =>
  created(await h.create(challengeId, ref, newOwnedId('challenge'), LIVE)).id;

async function report(attemptId: string, score: number, operationId = newId()) {
  const item = { operationId, attemptId, tenant: LIVE, score, evidenceJson: '', requestId: '', keyUse: undefined };
  return expectAccepted(await h.challenge.reportOutcomes({ reports: [item] })).results[0]?.result;
}

const score = async (challengeId: string, ref: string, value: number) =>
  recorded(await report(await openFree(challengeId, ref), value));

async function listen(challengeId: string, playerRef: string, value: number, sampleId = newId()) {
  const scores = [{ sampleId, tenant: LIVE, challengeId, playerRef, score: value }];
  return expectAccepted(await h.challenge.recordListenedScores({ scores })).statuses[0];
}

describe('the samples of a live calibration', () => {
  it('200 free scores of 20 invented refs add no sample in live', async () => {
    const id = await calibrating({ minCalibrationN: 200, minCalibrationPlayers: 20, targetPassRate: 0.2 });
    const scores = Array.from({ length: 200 }, (_, index) => score(id, `invented-${index % 20}`, 1 + index / 1e5));
    for (const outcome of await Promise.all(scores)) expect(outcome).toMatchObject({ metThreshold: false });
    for (let index = 0; index < 5; index += 1) expect(await listen(id, `invented-${index}`, 1)).toBe(NOT_COUNTED);
    expect((await read(id)).status).toBe(ChallengeStatus.CALIBRATING);
    expect(await countsOf(id)).toEqual([0, 0]);
  });

  it('scores of linked accounts that may play for money set the bar', async () => {
    const id = await calibrating({ minCalibrationPlayers: 2 });
    const [one, two] = [await person(), await person()];
    const alias = `alias-${newId()}`;
    await link(alias, one.email);
    for (const ref of [one.ref, alias, one.ref]) await score(id, ref, 10);
    expect(await countsOf(id)).toEqual([3, 1]);
    expect(await listen(id, alias, 20)).toBe(RECORDED);
    expect(await countsOf(id)).toEqual([4, 1]);
    await score(id, two.ref, 30);
    expect(await read(id)).toMatchObject({ status: ChallengeStatus.LIVE, threshold: 30 });
  });

  it.each<[string, Facts, (accountId: string) => object | null]>([
    ['is self-excluded', {}, (accountId) => ({ accountId, selfExcludedUntil: new Date('2099-01-01') })],
    ['is blocked', {}, (accountId) => ({ accountId, blocked: true })],
    ['is under age', { dateOfBirth: '2020-01-01' }, () => null],
    ['is below the verification level', { verificationLevel: 0 }, () => null],
    ['is in a jurisdiction that the challenge does not serve', { jurisdiction: 'GB' }, () => null],
  ])('a score of an account that %s is recorded as an outcome, but not as a sample', async (_, facts, change) => {
    const id = await calibrating({ requiredVerificationLevel: 1, jurisdictions: ['US-CA'] });
    const { ref, accountId } = await person(facts);
    const attempt = await openFree(id, ref);
    const changed = change(accountId);
    // The account changes after the attempt was opened, because the check is made when the score
    // arrives.
    if (changed !== null)
      expectAccepted(await h.wallet.updateAccount({ accountId, clearSelfExclusion: false, ...changed }));
    expect(recorded(await report(attempt, 10))).toMatchObject({ score: 10, metThreshold: false });
    expect(await listen(id, ref, 10)).toBe(NOT_COUNTED);
    expect(await countsOf(id)).toEqual([0, 0]);
    await score(id, (await person()).ref, 10);
    expect(await countsOf(id)).toEqual([1, 1]);
  });

  it('a score counts for the account that the ref names when the score arrives', async () => {
    const id = await calibrating();
    const ref = `late-${newId()}`;
    const attempts = [await openFree(id, ref), await openFree(id, ref)];
    const [first, second] = [await person(), await person()];
    await link(ref, first.email);
    recorded(await report(attempts[0] ?? '', 10));
    await link(ref, second.email);
    recorded(await report(attempts[1] ?? '', 10));
    const players = await h.database.query<{ player: string }>(
      { text: 'select player from bar_samples where challenge_id = $1' },
      [id],
    );
    const expected = [first, second].map(({ accountId }) => `account:${accountId}`);
    expect(players.map(({ player }) => player).sort()).toEqual(expected.sort());
  });

  it('the first scores of a top_n challenge count by the same rule', async () => {
    const id = await calibrating({ prizeStructure: PrizeStructure.TOP_N, topN: 2 });
    for (const ref of ['invented-1', 'invented-2', 'invented-3']) await score(id, ref, 1);
    expect((await read(id)).status).toBe(ChallengeStatus.CALIBRATING);
    expect(await countsOf(id)).toEqual([0, 0]);
    for (const value of [5, 7]) await score(id, (await person()).ref, value);
    expect(await read(id)).toMatchObject({ status: ChallengeStatus.LIVE, threshold: 5 });
  });

  it('a report fails while the wallet is unreachable, and its repetition counts once', async () => {
    const id = await calibrating();
    const { ref } = await person();
    const attempt = await openFree(id, ref);
    const operationId = newId();
    await h.stopWallet();
    expect(verdictOf(await report(attempt, 10, operationId))).toBe('failure');
    await h.startWallet();
    for (let repeat = 0; repeat < 2; repeat += 1) recorded(await report(attempt, 10, operationId));
    expect(await countsOf(id)).toEqual([1, 1]);
  });

  it('concurrent reports on one attempt record one outcome and one sample', async () => {
    const id = await calibrating();
    const { ref } = await person();
    const attempt = await openFree(id, ref);
    const verdicts = (await Promise.all([1, 2, 3].map((value) => report(attempt, value)))).map(verdictOf);
    expect(verdicts.sort()).toEqual(['attempt_already_settled', 'attempt_already_settled', 'outcome']);
    expect(await countsOf(id)).toEqual([1, 1]);
  });

  it('a listened score stays counted, even if its account may no longer play', async () => {
    const id = await calibrating();
    const { ref, accountId } = await person();
    const sampleId = newId();
    expect(await listen(id, ref, 10, sampleId)).toBe(RECORDED);
    expectAccepted(await h.wallet.updateAccount({ accountId, clearSelfExclusion: false, blocked: true }));
    expect(await listen(id, ref, 10, sampleId)).toBe(RECORDED);
    expect(await listen(id, ref, 10)).toBe(NOT_COUNTED);
  });

  it('the audit finds a sample of a ref without an account in a live calibration', async () => {
    const id = await calibrating();
    await score(id, (await person()).ref, 10);
    const rename = (from: string, to: string) =>
      Promise.all(
        ['bar_samples', 'calibration_players'].map((table) =>
          h.database.query({ text: `update ${table} set player = replace(player, $2, $3) where challenge_id = $1` }, [
            id,
            from,
            to,
          ]),
        ),
      );
    await rename('account:', 'ref:');
    expect(await h.violations()).toEqual([`live_calibration_counts_accounts: 1 (${id})`]);
    await rename('ref:', 'account:');
  });
});
