import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { hasChromium } from '../clients/chromium.ts';
import { observePage } from '../clients/observed-page.ts';
import { EVERY_PAGE_MS, expectEveryPageSound } from '../portal/every-page.ts';
import { OPEN_PORTAL_MS } from '../portal/open-portal.ts';
import { accessibilityIssues, firstLoadBytes, MAX_FIRST_LOAD_BYTES } from '../portal/page-checks.ts';
import type { SharedWorld } from '../world.ts';
import { openOperator, openOperatorPage, signInByToken } from './open-operator.ts';
import { makePages, type OperatorPage } from './pages.ts';

const stack = new AsyncDisposableStack();
let browser: Browser;
let world: SharedWorld;
let origin: string;
let token: string;
let pages: readonly OperatorPage[];

describe.skipIf(!(await hasChromium()))('the operator’s pages, in Chromium', () => {
  beforeAll(async () => {
    ({ world, browser } = await openOperator(stack));
    ({ baseUrl: origin, operatorToken: token } = world.stack);
    pages = await makePages(world);
  }, OPEN_PORTAL_MS);
  afterAll(() => stack.disposeAsync());

  test(
    'every page is accessible in light and dark, wide and on a phone',
    async () => {
      const signIn = (page: Page) => signInByToken(page, token);
      await expectEveryPageSound({ browser, origin, base: '/operator', pages, signIn, secret: token });
    },
    EVERY_PAGE_MS,
  );

  test('the scripts of the first page weigh at most 220 KB compressed', async () => {
    await using observed = await observePage(browser, origin);
    const { page } = observed;
    const total = await firstLoadBytes(page, () => openOperatorPage(page, '/sign-in', 'Sign in as an operator'));
    expect(total).toBeGreaterThan(10_000);
    expect(total).toBeLessThan(MAX_FIRST_LOAD_BYTES);
  });

  test('an unknown operator token is refused with a message', async () => {
    await using observed = await observePage(browser, origin);
    const { page } = observed;
    await openOperatorPage(page, '/sign-in', 'Sign in as an operator');
    await page.getByLabel('Operator token').fill('a token that nobody has, of some length');
    await page.getByRole('button', { name: 'Sign in' }).press('Enter');
    await page.getByText('No operator has this token.').waitFor();
    expect(await accessibilityIssues(page)).toEqual([]);
  });

  test.each([
    [
      'a session that has expired',
      "update operator_sessions set created_at = now() - interval '12 h', expires_at = now()",
    ],
    // The session names the hash of a token that the configuration no longer has.
    [
      'a token that was revoked',
      "update operator_sessions set operator_token_hash = sha256('a token of an earlier configuration')",
    ],
  ])('the operator returns to the same address after signing in again: %s', async (_name, end) => {
    await using observed = await observePage(browser, origin);
    const { page } = observed;
    await signInByToken(page, token);
    // The page has read all that it shows, so the click on the link is the first to find that the
    // session has ended.
    await page.getByRole('table', { name: 'Programs' }).waitFor();
    await world.stack.database('gateway').query(end);
    await page.getByRole('link', { name: 'Actions', exact: true }).click();
    await page.getByRole('heading', { name: 'Your session has ended' }).waitFor();
    expect(new URL(page.url()).pathname).toBe('/operator/actions');
    expect(await accessibilityIssues(page)).toEqual([]);
    await page.getByLabel('Operator token').fill(token);
    await page.getByLabel('Operator token').press('Enter');
    await page.getByRole('heading', { level: 1, name: 'Actions' }).waitFor();
  });

  test('signing out ends the session', async () => {
    await using observed = await observePage(browser, origin);
    const { page } = observed;
    await signInByToken(page, token);
    const [cookie] = await page.context().cookies(`${origin}/api/operator/me`);
    expect(cookie).toMatchObject({
      name: 'laurel_operator',
      httpOnly: true,
      sameSite: 'Strict',
      path: '/api/operator',
    });
    await page.getByRole('button', { name: 'Sign out' }).press('Enter');
    await page.getByRole('heading', { name: 'Sign in as an operator' }).waitFor();
    const kept = await fetch(`${origin}/api/operator/me`, {
      headers: { cookie: `laurel_operator=${cookie?.value}`, connection: 'close' },
    });
    await kept.body?.cancel();
    expect(kept.status).toBe(401);
  });

  test('the page shows that the server is unreachable and lets the operator try again', async () => {
    await using observed = await observePage(browser, origin);
    const { page } = observed;
    await signInByToken(page, token);
    await page.route('**/api/**', (route) => route.abort());
    await page.goto('/operator/programs');
    await page.getByRole('heading', { name: 'The server cannot be reached' }).waitFor();
    expect(await accessibilityIssues(page)).toEqual([]);
    await page.unroute('**/api/**');
    await page.getByRole('button', { name: 'Try again' }).click();
    await page.getByRole('table', { name: 'Programs' }).waitFor();
  });
});
