/** The built portal of the worker's stack, open in Chromium. */
import { PORTAL_FOLDER } from '@laurel/portal/inputs';
import type { Browser, Page } from 'playwright-core';
import { buildOnce } from '../clients/build-once.ts';
import { launchChromium } from '../clients/chromium.ts';
import { type Developer, joinWorld, type SharedWorld } from '../world.ts';

/** Builds the developer portal and the operator's pages. */
export function buildPortal(): Promise<void> {
  return buildOnce(PORTAL_FOLDER);
}

/** The build may wait for other builds, and the first stack waits for its services. */
export const OPEN_PORTAL_MS = 600_000;

/** Builds the portal, joins the stack that serves it, and starts Chromium; `stack` ends them. */
export async function openPortal(
  stack: AsyncDisposableStack,
): Promise<{ world: SharedWorld; developer: Developer; browser: Browser }> {
  await buildPortal();
  const world = stack.use(await joinWorld());
  const developer = await world.newDeveloper();
  const browser = await launchChromium();
  stack.defer(() => browser.close());
  return { world, developer, browser };
}

/** Signs in with the password, as a developer does. */
export async function signInByPassword(page: Page, { email, password }: Developer): Promise<void> {
  await page.goto('/portal/sign-in');
  await page.getByLabel('E-mail').fill(email);
  await page.getByLabel('Password').fill(password);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('button', { name: 'Sign out' }).waitFor();
}

/** Opens a page and waits for its heading, and until everything that it reads is there. */
export async function openPage(
  page: Page,
  path: string,
  heading: string | RegExp,
  base: '/portal' | '/operator' = '/portal',
): Promise<void> {
  await page.goto(`${base}${path}`);
  await page.getByRole('heading', { level: 1, name: heading, exact: true }).waitFor();
  await page.locator('.loading').first().waitFor({ state: 'detached' });
}

/** The places in which the browser keeps the text: the address, the history, the storage. */
export async function placesOf(page: Page, text: string): Promise<readonly string[]> {
  const kept = await page.evaluate(
    '({ address: location.href, history: JSON.stringify(history.state), local: JSON.stringify({ ...localStorage }), session: JSON.stringify({ ...sessionStorage }), cookie: document.cookie })',
  );
  return Object.entries(kept as Record<string, string>).flatMap(([place, value]) =>
    value?.includes(text) ? [place] : [],
  );
}
