/** Checks what must hold for every page of apps/portal. */
import { gzipSync } from 'node:zlib';
import axe, { type AxeResults } from 'axe-core';
import type { Page } from 'playwright-core';

/** The scripts of the first page, compressed. */
export const MAX_FIRST_LOAD_BYTES = 220_000;

export async function accessibilityIssues(page: Page): Promise<readonly string[]> {
  // axe has half a megabyte, so it is loaded once per page.
  if (!(await page.evaluate("'axe' in window"))) await page.evaluate(axe.source);
  // The list of the rules that hold is long, and stays in the browser.
  const violations: AxeResults['violations'] = await page.evaluate(
    "axe.run(document, { resultTypes: ['violations'] }).then(({ violations }) => violations)",
  );
  return violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html.slice(0, 160)).join(' ')}`);
}

/** What scripts have stored in the browser, besides the positions of scrolling. */
export function storedTexts(page: Page): Promise<readonly string[]> {
  return page.evaluate(
    "[...Object.entries(localStorage), ...Object.entries(sessionStorage)].filter(([name]) => !name.startsWith('tsr-scroll')).map(String).concat(document.cookie || [])",
  );
}

/** Whether the page is no wider than the window. */
export function fitsWindow(page: Page): Promise<boolean> {
  return page.evaluate('document.documentElement.scrollWidth <= innerWidth');
}

/** The compressed bytes of all scripts that the page loads while it is opened. */
export async function firstLoadBytes(page: Page, open: () => Promise<void>): Promise<number> {
  const sizes: Promise<number>[] = [];
  page.on('response', (response) => {
    if (response.url().endsWith('.js')) sizes.push(response.body().then((body) => gzipSync(body).length));
  });
  await open();
  return (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0);
}
