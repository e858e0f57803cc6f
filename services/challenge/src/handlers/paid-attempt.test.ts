/** One player, from the fee to the prize. */

import { AttemptStatus, AwardStatus } from '@laurel/proto/attempts';
import { ChallengeStatus } from '@laurel/proto/challenge';
import { keyIdOf } from '@laurel/signature';
import { expectAccepted, verdictOnReceipt } from '@laurel/testing';
import { newId, newOwnedId } from '@laurel/values/ids';
import { describe, expect, it } from 'vitest';
import { created, OTHER_PROGRAM, PROGRAM, recorded, useHarness, verdictOf } from '../challenge.fixture.ts';

const h = useHarness();

describe('a paid attempt', () => {
  it('a paid attempt is charged once and wins the frozen prize', async () => {
    const challenge = await h.open();
    const player = await h.player(undefined, 1_000n);
    const attemptId = newOwnedId('challenge');

    const attempt = created(await h.create(challenge.id, player.ref, attemptId));
    expect(attempt).toEqual({
      id: attemptId,
      contestId: challenge.id,
      playerRef: player.ref,
      status: AttemptStatus.OPEN,
      feeCents: 100n,
      createdAt: h.clock(),
      metadataJson: '{"a":1}',
      outcome: undefined,
    });
    expect(created(await h.create(challenge.id, player.ref, attemptId))).toEqual(attempt);
    expect(await h.balance(player.accountId)).toBe(900n);

    const operationId = newId();
    const outcome = recorded(await h.report(attemptId, 100, operationId, '{"replay":"x"}'));
    expect(outcome).toEqual({
      attemptId,
      score: 100,
      metThreshold: true,
      thresholdApplied: 100,
      recordedAt: h.clock(),
      receiptId: outcome.receiptId,
      award: { id: outcome.award?.id, amountCents: 2_000n, paidAt: outcome.award?.paidAt, status: AwardStatus.PAID },
    });
    expect(outcome.award?.paidAt).toBeInstanceOf(Date);
    expect(await h.balance(player.accountId)).toBe(2_900n);

    expect(recorded(await h.report(attemptId, 100, operationId, '{"replay":"x"}'))).toEqual(outcome);
    expect(verdictOf(await h.report(attemptId, 100))).toBe('attempt_already_settled');
    expect(created(await h.create(challenge.id, player.ref, attemptId))).toEqual(attempt);
    expect(expectAccepted(await h.challenge.getAttempt({ tenant: PROGRAM, attemptId })).attempt).toEqual({
      ...attempt,
      status: AttemptStatus.SETTLED,
      outcome,
    });
    expect(await h.balance(player.accountId)).toBe(2_900n);
  });

  it('a paid attempt leaves a receipt that anyone can verify, with the evidence exactly as sent', async () => {
    const { challenge, player, attempt } = await h.openAttempt();
    const outcome = recorded(await h.report(attempt.id, 99.5, newId(), '{"z":[1,{"b":null}],"a":"é\\u0000"}'));
    expect(outcome.award).toBeUndefined();

    const receipt = expectAccepted(await h.challenge.getReceipt({ receiptId: outcome.receiptId }));
    expect((await verdictOnReceipt({ canonical: receipt.receiptJson, ...receipt })).kind).toBe('valid');
    expect(JSON.parse(receipt.receiptJson)).toEqual({
      version: 1,
      receipt_id: outcome.receiptId,
      program_id: PROGRAM.programId,
      environment: 'test',
      challenge_id: challenge.id,
      attempt_id: attempt.id,
      attempt_created_at: h.clock().toISOString(),
      player_ref: player.ref,
      fee_charged: '1.00',
      score: 99.5,
      threshold_direction: 'higher_is_better',
      threshold_applied: 100,
      met_threshold: false,
      award: null,
      recorded_at: h.clock().toISOString(),
      evidence: { z: [1, { b: null }], a: 'é\u0000' },
      evidence_text: '{"z":[1,{"b":null}],"a":"é\\u0000"}',
      key_id: keyIdOf(Buffer.from(receipt.publicKey)),
    });
  });

  it('a paid attempt does not exist for another tenant', async () => {
    const { challenge, player, attempt } = await h.openAttempt();
    expect(await h.challenge.getAttempt({ tenant: OTHER_PROGRAM, attemptId: attempt.id })).toMatchObject({
      code: 'not_found',
    });
    expect(verdictOf(await h.create(challenge.id, player.ref, newOwnedId('challenge'), OTHER_PROGRAM))).toBe(
      'not_found',
    );
    const report = {
      operationId: newId(),
      attemptId: attempt.id,
      tenant: OTHER_PROGRAM,
      score: 1,
      evidenceJson: '',
      requestId: '',
      keyUse: undefined,
    };
    expect(verdictOf(expectAccepted(await h.challenge.reportOutcomes({ reports: [report] })).results[0]?.result)).toBe(
      'not_found',
    );
    expect(verdictOf(await h.report(newOwnedId('challenge'), 1))).toBe('not_found');
  });

  it('a paid attempt that a rule refuses is not charged', async () => {
    const player = await h.player();
    const poor = await h.player(undefined, 99n);
    const challenge = await h.open({ dailyAttemptCap: 2 });
    const rung = await h.open({ parentChallengeId: challenge.id });
    const suspended = await h.open();
    expectAccepted(
      await h.challenge.updateChallengeStatus({ challengeId: suspended.id, status: ChallengeStatus.SUSPENDED }),
    );
    const rich = await h.open({ prizeCents: 2_501n });
    const verified = await h.open({ requiredVerificationLevel: 3 });

    expect(verdictOf(await h.create(newId(), player.ref))).toBe('not_found');
    expect(verdictOf(await h.create(suspended.id, player.ref))).toBe('challenge_not_available');
    expect(verdictOf(await h.create(rich.id, player.ref))).toBe('challenge_not_available');
    expect(verdictOf(await h.create(rung.id, player.ref))).toBe('rung_locked');
    expect(verdictOf(await h.create(verified.id, player.ref))).toBe('blocked');
    expect(verdictOf(await h.create(challenge.id, poor.ref))).toBe('insufficient_funds');
    expect(verdictOf(await h.create(challenge.id, 'unlinked'))).toBe('insufficient_funds');
    expect(await h.balance(player.accountId)).toBe(100_000n);

    const first = created(await h.create(challenge.id, player.ref));
    created(await h.create(challenge.id, player.ref));
    expect(verdictOf(await h.create(challenge.id, player.ref))).toBe('attempt_cap_reached');
    recorded(await h.report(first.id, 100));
    expect(verdictOf(await h.create(challenge.id, player.ref))).toBe('challenge_already_claimed');
    created(await h.create(rung.id, player.ref));
    expect(await h.balance(player.accountId)).toBe(100_000n - 300n + 2_000n);
    expect(await h.balance(poor.accountId)).toBe(99n);
  });

  it('a paid attempt counts towards the daily cap for 24 hours', async () => {
    const { challenge, player, attempt } = await h.openAttempt({ dailyAttemptCap: 1 });
    recorded(await h.report(attempt.id, 1));
    h.clock.advance(24 * 3_600_000 - 1);
    expect(verdictOf(await h.create(challenge.id, player.ref))).toBe('attempt_cap_reached');
    h.clock.advance(1);
    expect(verdictOf(await h.create(challenge.id, player.ref))).toBe('attempt');
  });
});
