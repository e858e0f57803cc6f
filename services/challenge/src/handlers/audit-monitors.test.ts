/**
 * The audit's checks of drift monitors and of the status history. Each check finds its kind of
 * damage.
 */
import { ChallengeStatus } from '@laurel/proto/challenge';
import { expectAccepted } from '@laurel/testing';
import { expect, it } from 'vitest';
import { useHarness } from '../challenge.fixture.ts';
import { everyNth, openWithoutCap, usePlay } from '../workers/monitor.fixture.ts';

const h = useHarness();
const { attempts, play, settle } = usePlay(h);

async function failing(damage: string, repair: string, challengeId: string): Promise<readonly string[]> {
  expect(await h.violations()).toEqual([]);
  await h.database.query({ text: damage }, [challengeId]);
  const found = (await h.violations()).map((violation) => violation.split(':')[0] ?? '');
  // No violation is in live: every failing check found rows of the sandbox.
  expect(await h.liveViolations()).toEqual([]);
  await h.database.query({ text: repair }, [challengeId]);
  return found;
}

const counted = (change: string) => `update drift_monitors set ${change} where challenge_id = $1`;

it('the audit finds an outcome that the monitor counted twice or never', async () => {
  const { id } = await openWithoutCap(h);
  await play(id, everyNth(10, 5));
  const [twice, never] = ['attempts = attempts + 1', 'attempts = attempts - 1'];
  expect(await failing(counted(twice), counted(never), id)).toEqual([
    'monitor_counts_no_outcome_twice',
    'monitor_counts_every_outcome',
  ]);
  expect(await failing(counted(never), counted(twice), id)).toEqual(['monitor_counts_every_outcome']);
  expect(await failing(counted('passes = passes - 1'), counted('passes = passes + 1'), id)).toEqual([
    'monitor_counts_every_outcome',
  ]);
});

it('the audit accepts outcomes that the monitor has yet to count', async () => {
  const { id } = await openWithoutCap(h);
  await h.database.transaction(async (tx) => {
    await tx.query({ text: 'select from drift_monitors where challenge_id = $1 for update' }, [id]);
    await settle(await attempts(id, 5), everyNth(5, 5));
    await h.server.sweepOnce();
    expect(await h.violations()).toEqual([]);
  });
});

it('the audit finds a status that does not follow from its history', async () => {
  const { id } = await openWithoutCap(h);
  await play(id, everyNth(10, 5));
  expectAccepted(
    await h.challenge.updateChallengeStatus({ challengeId: id, status: ChallengeStatus.SUSPENDED, note: undefined }),
  );
  const status = (to: string) => `update challenges set status = '${to}' where id = $1`;
  expect(await failing(status('live'), status('suspended'), id)).toEqual(['status_follows_from_its_history']);
});
