/** The money of days, as operators read it: counted by a scripted wallet. */
import { Environment } from '@laurel/proto/common';
import { WalletServiceService } from '@laurel/proto/wallet';
import { createTestClock, createTestDatabase } from '@laurel/testing';
import { newId } from '@laurel/values/ids';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { type ScriptedService, startScriptedService } from '../../clients/scripted-service.fixture.ts';
import { operatorOf, startTestGateway } from '../../gateway.fixture.ts';

const stack = new AsyncDisposableStack();
let wallet: ScriptedService<WalletServiceService>;
let operate: ReturnType<typeof operatorOf>;

beforeAll(async () => {
  wallet = stack.use(await startScriptedService(WalletServiceService));
  const { runningUrl } = stack.use(
    await createTestDatabase({ migrations: new URL('../../../migrations/', import.meta.url) }),
  );
  const settings = { GATEWAY_DATABASE_URL: runningUrl, WALLET_ADDRESS: wallet.address };
  const { port } = stack.use(await startTestGateway(settings, { clock: createTestClock() }));
  operate = operatorOf(port);
}, 60_000);
afterAll(() => stack.disposeAsync());
beforeEach(() => {
  wallet.asked.length = 0;
});

const sums = { feesCents: 3_00n, refundsCents: 1_00n, paidCents: 12_34n, heldCents: 5_00n, deniedCents: 0n };
const shown = { fees: '3.00', refunds: '1.00', paid: '12.34', held: '5.00', denied: '0.00', kept: '-10.34' };
const NULL_UUID = '00000000-0000-0000-0000-000000000000';

test('the money of a period is shown by environment, by day and by program', async () => {
  const { id } = (await operate('POST', '/programs', { name: 'Arcade' })).body;
  const countedAt = new Date('2026-11-26T12:00:00.000Z');
  const live = (programId: string) => ({ tenant: { programId, environment: Environment.LIVE }, sums });
  wallet.script.getMoney = async () => ({
    programs: [live(id), live(NULL_UUID)],
    environments: [{ environment: Environment.LIVE, sums, keptCents: -7n, heldNowCents: 5_00n }],
    days: [{ day: '2026-11-25', environment: Environment.LIVE, sums }],
    countedAt,
  });
  const answer = await operate('GET', `/money?from=2026-11-20&to=2026-11-26&environment=live&program_id=${id}`);
  expect(answer.status).toBe(200);
  expect(answer.body).toEqual({
    counted_at: countedAt.toISOString(),
    environments: [{ environment: 'live', ...shown, house: '-0.07', held_now: '5.00' }],
    days: [{ day: '2026-11-25', environment: 'live', ...shown }],
    data: [
      { program_id: id, name: 'Arcade', environment: 'live', ...shown },
      { program_id: null, name: null, environment: 'live', ...shown },
    ],
    next_cursor: null,
  });
  expect(wallet.asked).toEqual([
    [
      'getMoney',
      {
        ...{ from: '2026-11-20', to: '2026-11-26', environment: Environment.LIVE, programId: id },
        ...{ beforeProgramId: undefined, limit: 101 },
      },
    ],
  ]);
});

test('a page of money never splits a program', async () => {
  const programs = [newId(), newId(), newId()].toReversed();
  wallet.script.getMoney = async () => ({
    programs: programs.flatMap((programId) =>
      [Environment.TEST, Environment.LIVE].map((environment) => ({ tenant: { programId, environment }, sums })),
    ),
    environments: [],
    days: [],
    countedAt: undefined,
  });
  const { body } = await operate('GET', `/money?from=2026-11-26&to=2026-11-26&limit=2&cursor=${newId()}`);
  expect(body).toMatchObject({ counted_at: null, next_cursor: programs[1] });
  expect(body.data.map(({ program_id }: { program_id: string }) => program_id)).toEqual(
    programs.slice(0, 2).flatMap((id) => [id, id]),
  );
});

test('a period has at most 92 days', async () => {
  wallet.script.getMoney = async () => ({ programs: [], environments: [], days: [], countedAt: undefined });
  expect((await operate('GET', '/money?from=2026-01-01&to=2026-04-02')).status).toBe(200);
  for (const query of [
    '',
    'from=2026-11-26',
    'from=2026-11-26&to=2026-11-25',
    'from=2026-01-01&to=2026-04-03',
    'from=2026-02-30&to=2026-03-01',
    'from=2026-11-26&to=2026-11-26T00:00:00.000Z',
    'from=2026-11-26&to=2026-11-26&environment=both',
    'from=2026-11-26&to=2026-11-26&program_id=nobody',
    'from=2026-11-26&to=2026-11-26&cursor=nonsense',
    'from=2026-11-26&to=2026-11-26&limit=101',
    'from=2026-11-26&to=2026-11-26&week=1',
  ]) {
    expect(await operate('GET', `/money?${query}`), query).toMatchObject({ status: 400, code: 'invalid_request' });
  }
});
