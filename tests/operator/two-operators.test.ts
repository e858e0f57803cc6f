/** Two operators, each with a token and a browser, decide about one payout at the same time. */
import { randomBytes } from 'node:crypto';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { hasChromium, launchChromium } from '../clients/chromium.ts';
import { observePage } from '../clients/observed-page.ts';
import { enterText, pressEnter } from '../portal/keyboard.ts';
import { buildPortal, OPEN_PORTAL_MS } from '../portal/open-portal.ts';
import { accessibilityIssues } from '../portal/page-checks.ts';
import { expectStatus, startWorld, type World } from '../world.ts';
import { openOperatorPage, signInByToken } from './open-operator.ts';
import { newHeldPayout, payoutOf } from './payout-items.ts';

const TOKENS = { ana: newToken(), bea: newToken() };

const stack = new AsyncDisposableStack();
let world: World;
let browser: Browser;

describe.skipIf(!(await hasChromium()))('two operators of one Laurel', () => {
  beforeAll(async () => {
    await buildPortal();
    const OPERATOR_TOKENS = Object.entries(TOKENS)
      .map(([name, token]) => `${name}:${token}`)
      .join();
    world = stack.use(await startWorld({ environment: { gateway: { OPERATOR_TOKENS } } }));
    browser = await launchChromium();
    stack.defer(() => browser.close());
  }, OPEN_PORTAL_MS);
  afterAll(() => stack.disposeAsync());

  test('only one of two concurrent decisions on a payout counts', async () => {
    const { award_id: awardId, attemptId, player } = await newHeldPayout(world);
    await using ana = await observePage(browser, world.stack.baseUrl);
    await using bea = await observePage(browser, world.stack.baseUrl);
    const meet = meetingOf(2);
    await prepare(ana.page, { token: TOKENS.ana, awardId, verb: 'Release', meet });
    await prepare(bea.page, { token: TOKENS.bea, awardId, verb: 'Deny', meet });
    await Promise.all([confirm(ana.page, 'Release'), confirm(bea.page, 'Deny')]);

    await expect.poll(async () => (await payoutOf(world, awardId)).decision).not.toBeNull();
    const { status, decision } = await payoutOf(world, awardId);
    const [first, second] = decision?.operator === 'ana' ? [ana.page, bea.page] : [bea.page, ana.page];
    expect(decision).toMatchObject(
      decision?.operator === 'ana'
        ? { decision: 'released', operator: 'ana', reason: null }
        : { decision: 'denied', operator: 'bea', reason: 'Two devices played.' },
    );
    const words = `${decision?.decision} by ${decision?.operator}`;
    const when = decision?.at.replace('T', ' ').replace('Z', ' UTC') ?? '';

    const dialog = second.getByRole('dialog');
    await dialog.getByText(`The payout was ${words}.`).waitFor();
    await dialog.getByText(`Payout: held → ${words} on ${when}`).waitFor();
    expect(await accessibilityIssues(second)).toEqual([]);
    await second.keyboard.press('Escape');
    for (const page of [first, second]) {
      await page.getByRole('dialog').waitFor({ state: 'detached' });
      await page.locator('.page-header').getByText(status, { exact: true }).waitFor();
      const facts = page.getByRole('region', { name: 'Decision' });
      await facts.getByText(decision?.operator ?? '', { exact: true }).waitFor();
      expect(await facts.locator('time').getAttribute('datetime')).toBe(decision?.at);
    }

    const { outcome } = expectStatus(200, await world.partner.getAttempt(attemptId)).body;
    expect(outcome?.award?.paid_at === null).toBe(status === 'denied');
    expect(await world.balance(player)).toBe(status === 'paid' ? '103.00' : '98.00');
    const tries = await world.operator.send<{ data: { outcome: string; actor: string }[] }>(
      'GET',
      `/actions?subject=award:${awardId}`,
    );
    const outcomes = expectStatus(200, tries).body.data.map((action) => [action.actor, action.outcome]);
    const loser = decision?.operator === 'ana' ? 'bea' : 'ana';
    expect(new Map(outcomes as [string, string][])).toEqual(
      new Map([
        [decision?.operator ?? '', 'done'],
        [loser, 'refused'],
      ]),
    );
    await world.expectAuditOk();
  });
});

interface Operator {
  readonly token: string;
  readonly awardId: string;
  readonly verb: 'Release' | 'Deny';
  /** Resolves once every operator's request is on its way. */
  readonly meet: () => Promise<void>;
}

/** Signs in, opens the payout and the dialog, and waits to decide until all operators can. */
async function prepare(page: Page, { token, awardId, verb, meet }: Operator): Promise<void> {
  await signInByToken(page, token);
  await openOperatorPage(page, `/payouts/${awardId}`, 'Payout of $5.00');
  await page.route(`**/payouts/${awardId}/${verb.toLowerCase()}`, async (route) => {
    await meet();
    await route.continue();
  });
  await pressEnter(page.getByRole('button', { name: verb }));
  if (verb === 'Deny') await enterText(page.getByRole('dialog').getByLabel('Reason'), 'Two devices played.');
}

async function confirm(page: Page, verb: Operator['verb']): Promise<void> {
  await pressEnter(page.getByRole('dialog').getByRole('button', { name: verb }));
}

function meetingOf(count: number): () => Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  let here = 0;
  return () => {
    here += 1;
    if (here === count) resolve();
    return promise;
  };
}

function newToken(): string {
  return randomBytes(24).toString('base64url');
}
