import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { hasChromium } from '../clients/chromium.ts';
import { observePage } from '../clients/observed-page.ts';
import type { Developer, SharedWorld } from '../world.ts';
import { EVERY_PAGE_MS, expectEveryPageSound } from './every-page.ts';
import { OPEN_PORTAL_MS, openPage, openPortal, signInByPassword } from './open-portal.ts';
import { accessibilityIssues, firstLoadBytes, MAX_FIRST_LOAD_BYTES, storedTexts } from './page-checks.ts';
import { makePages, type PortalPage } from './pages.ts';

const stack = new AsyncDisposableStack();
let browser: Browser;
let world: SharedWorld;
let origin: string;
let developer: Developer;
let pages: readonly PortalPage[];

describe.skipIf(!(await hasChromium()))('the developer portal, in Chromium', () => {
  beforeAll(async () => {
    ({ world, developer, browser } = await openPortal(stack));
    origin = world.stack.baseUrl;
    pages = await makePages(world, developer);
  }, OPEN_PORTAL_MS);
  afterAll(() => stack.disposeAsync());

  test(
    'every page is accessible in light and dark, wide and on a phone',
    async () => {
      const signIn = (page: Page) => signInByPassword(page, developer);
      const secret = developer.password;
      await expectEveryPageSound({ browser, origin, base: '/portal', pages, signIn, secret });
    },
    EVERY_PAGE_MS,
  );

  test('the scripts of the first page weigh at most 220 KB compressed', async () => {
    await using observed = await observePage(browser, origin);
    const { page } = observed;
    const total = await firstLoadBytes(page, () => openPage(page, '/sign-in', 'Sign in to Laurel'));
    expect(total).toBeGreaterThan(10_000);
    expect(total).toBeLessThan(MAX_FIRST_LOAD_BYTES);
  });

  test('a new test key is shown once and disappears with its dialog', async () => {
    await using observed = await observePage(browser, origin);
    const { page, objections } = observed;
    await signInByPassword(page, developer);
    await openPage(page, `/p/${developer.program.id}/test/keys`, 'API keys');
    const old = developer.program.test.apiKey;
    await page.getByRole('button', { name: 'Replace the test key' }).press('Enter');
    await page.getByRole('dialog').getByText('The old key stops at once').waitFor();
    expect(await accessibilityIssues(page)).toEqual([]);
    await page.getByRole('dialog').getByRole('button', { name: 'Replace' }).press('Enter');
    const shown = page.getByRole('dialog', { name: 'The new test key' });
    const key = (await shown.locator('pre').textContent()) ?? '';
    expect(await accessibilityIssues(page)).toEqual([]);
    expect([await statusWith(old), await statusWith(key)]).toEqual([401, 200]);
    await shown.getByRole('button', { name: 'I have stored it' }).press('Enter');
    await shown.waitFor({ state: 'detached' });
    // Like every key, the new one is shown with its last four characters.
    expect(await page.content()).not.toContain(key);
    expect(await page.locator('table code').textContent()).toContain(key.slice(-4));
    expect(page.url()).not.toContain(key);
    expect(await storedTexts(page)).toEqual([]);
    expect(objections).toEqual([]);
  });

  test('the developer returns to the same address after signing in again', async () => {
    await using observed = await observePage(browser, origin);
    const { page } = observed;
    await signInByPassword(page, developer);
    const path = `/p/${developer.program.id}/test/keys`;
    await openPage(page, path, 'API keys');
    await page.context().clearCookies();
    await page.getByRole('link', { name: 'Laurel', exact: true }).click();
    await page.getByRole('heading', { name: 'Your session has ended' }).waitFor();
    expect(new URL(page.url()).pathname).toBe('/portal/programs');
    expect(await accessibilityIssues(page)).toEqual([]);
    await page.getByLabel('E-mail').fill(developer.email);
    await page.getByLabel('Password').fill(developer.password);
    await page.getByLabel('Password').press('Enter');
    await page.getByRole('heading', { name: 'Programs' }).waitFor();
  });

  test('the page says when the server cannot be reached and lets the developer try again', async () => {
    await using observed = await observePage(browser, origin);
    const { page } = observed;
    await signInByPassword(page, developer);
    await page.route('**/api/**', (route) => route.abort());
    await page.goto('/portal/programs');
    await page.getByRole('heading', { name: 'The server cannot be reached' }).waitFor();
    expect(await accessibilityIssues(page)).toEqual([]);
    await page.unroute('**/api/**');
    await page.getByRole('button', { name: 'Try again' }).click();
    await page.getByRole('table', { name: 'Programs' }).waitFor();
  });

  test('the page of another developer’s program says that it was not found', async () => {
    const other = await world.newDeveloper();
    await using observed = await observePage(browser, origin);
    await signInByPassword(observed.page, developer);
    await observed.page.goto(`/portal/p/${other.program.id}/test/keys`);
    await observed.page.getByRole('heading', { name: 'Not found' }).waitFor();
  });
});

async function statusWith(apiKey: string): Promise<number> {
  const answer = await fetch(`${origin}/v1/challenges?player_ref=player`, {
    headers: { 'X-API-Key': apiKey, connection: 'close' },
  });
  await answer.body?.cancel();
  return answer.status;
}
