/** The pages of the audit and of the log of actions, compared with what their routes return. */
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { hasChromium } from '../clients/chromium.ts';
import { observePage } from '../clients/observed-page.ts';
import { pressEnter } from '../portal/keyboard.ts';
import { OPEN_PORTAL_MS } from '../portal/open-portal.ts';
import { accessibilityIssues, fitsWindow } from '../portal/page-checks.ts';
import { expectStatus, type SharedWorld } from '../world.ts';
import { openOperator, openOperatorPage, signInByToken } from './open-operator.ts';

const PHONE = { width: 390, height: 800 };

const stack = new AsyncDisposableStack();
let browser: Browser;
let world: SharedWorld;
let origin: string;

describe.skipIf(!(await hasChromium()))('an operator checks what happened', () => {
  beforeAll(async () => {
    ({ world, browser } = await openOperator(stack));
    origin = world.stack.baseUrl;
  }, OPEN_PORTAL_MS);
  afterAll(() => stack.disposeAsync());

  test('the audit page shows each check when the operator runs the audit', async () => {
    await using observed = await observePage(browser, origin, { viewport: PHONE });
    const { page, objections } = observed;
    await signInByToken(page, world.stack.operatorToken);
    await openOperatorPage(page, '/audit', 'Audit');
    await page.getByText('No audit since this page was loaded').waitFor();
    await pressEnter(page.getByRole('button', { name: 'Run the audit' }));
    await page.getByRole('heading', { name: 'Every money rule holds' }).waitFor();
    const { checks } = expectStatus(200, await world.operator.audit()).body;
    expect(await rowsOf(page)).toBe(checks.length);
    expect(await accessibilityIssues(page)).toEqual([]);
    expect(await fitsWindow(page)).toBe(true);
    expect(objections).toEqual([]);
  });

  test('a violated check is listed first, with examples to copy', async () => {
    await using observed = await observePage(browser, origin);
    const { page } = observed;
    await signInByToken(page, world.stack.operatorToken);
    const { checks } = expectStatus(200, await world.operator.audit()).body;
    const broken = {
      ...checks.at(-1),
      violations: 3,
      violations_by_environment: { live: 1, test: 2 },
      examples: ['01a1a001-52c0-7f4d-a2b8-6e17c9d03f52'],
    };
    const report = { ok: false, live_ok: false, checks: [...checks.slice(0, -1), broken] };
    await page.route('**/api/operator/audit', (route) => route.fulfill({ json: report }));
    await openOperatorPage(page, '/audit', 'Audit');
    await pressEnter(page.getByRole('button', { name: 'Run the audit' }));
    await page.getByRole('heading', { name: 'Real money breaks 1 rule' }).waitFor();
    const first = page.getByRole('table', { name: 'Checks' }).locator('tbody tr').first();
    expect(await first.locator('td').first().textContent()).toBe('broken');
    await first.getByText('01a1a001-52c0-7f4d-a2b8-6e17c9d03f52').waitFor();
    await first.getByRole('button', { name: 'Copy the id of the example' }).waitFor();
    expect(await accessibilityIssues(page)).toEqual([]);
  });

  test('the actions of a program are listed with what they changed', async () => {
    const { id } = expectStatus(201, await world.operator.createProgram('Late live key')).body;
    expectStatus(409, await world.operator.replaceLiveKey(id));
    expectStatus(200, await world.operator.approveProgram(id));
    await using observed = await observePage(browser, origin);
    const { page, objections } = observed;
    await signInByToken(page, world.stack.operatorToken);
    await page.goto(`/operator/programs/${id}`);
    await page.getByRole('link', { name: 'What operators did' }).click();
    await page.getByRole('heading', { level: 1, name: 'Actions' }).waitFor();
    const rows = page.getByRole('table', { name: 'Actions' }).locator('tbody tr');
    await rows.nth(2).waitFor();
    const shown = await Promise.all((await rows.all()).map((row) => row.locator('td').allTextContents()));
    expect(shown.map(([action, , , , result]) => [action, result])).toEqual([
      ['approve program', 'done 200'],
      ['replace live key', 'refused 409'],
      ['create program', 'done 201'],
    ]);
    await rows.nth(0).getByText('status: draft → approved').waitFor();

    await page.getByLabel('Action').fill('create program');
    await page.getByLabel('Action').press('Enter');
    await expect.poll(() => rows.count()).toBe(1);
    expect(new URL(page.url()).searchParams.get('action')).toBe('create_program');
    await pressEnter(page.getByRole('button', { name: 'create program' }));
    const dialog = page.getByRole('dialog', { name: 'Create program' });
    await dialog.getByText('"name": "Late live key"').first().waitFor();
    expect(await accessibilityIssues(page)).toEqual([]);
    await pressEnter(dialog.getByRole('button', { name: 'Close' }));
    await dialog.waitFor({ state: 'detached' });
    expect(objections).toEqual([]);
  });
});

function rowsOf(page: Page): Promise<number> {
  return page.getByRole('table', { name: 'Checks' }).locator('tbody tr').count();
}
