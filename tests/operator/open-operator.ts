/** The operator's pages of the worker's stack, open in Chromium. */
import type { Browser, Page } from 'playwright-core';
import { launchChromium } from '../clients/chromium.ts';
import { buildPortal, openPage } from '../portal/open-portal.ts';
import { joinWorld, type SharedWorld } from '../world.ts';

/**
 * Builds the pages, joins the stack that serves them, and starts Chromium. `stack` ends all this.
 */
export async function openOperator(
  stack: AsyncDisposableStack,
): Promise<{ readonly world: SharedWorld; readonly browser: Browser }> {
  await buildPortal();
  const world = stack.use(await joinWorld());
  const browser = await launchChromium();
  stack.defer(() => browser.close());
  return { world, browser };
}

/** Signs in with a token, as an operator does. */
export async function signInByToken(page: Page, token: string): Promise<void> {
  await page.goto('/operator/sign-in');
  await page.getByLabel('Operator token').fill(token);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('heading', { level: 1, name: 'Programs' }).waitFor();
}

/** Opens a page of the operator, as `openPage` opens one of the portal. */
export async function openOperatorPage(page: Page, path: string, heading: string | RegExp): Promise<void> {
  await openPage(page, path, heading, '/operator');
}
