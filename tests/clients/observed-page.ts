/**
 * A page of a browser, and everything about it to which a strict policy or a reader would object.
 */
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';

export interface ObservedPage extends AsyncDisposable {
  readonly page: Page;
  /**
   * Violations of the policy, requests to other origins, responses of 400 and above, and errors of
   * the console, in order of occurrence.
   */
  readonly objections: readonly string[];
}

export async function observePage(
  browser: Browser,
  origin: string,
  options: BrowserContextOptions = {},
): Promise<ObservedPage> {
  const context = await browser.newContext({ baseURL: origin, ...options });
  const page = await context.newPage();
  const objections: string[] = [];
  await page.exposeBinding('reportViolation', (_source, text: string) => objections.push(`violation: ${text}`));
  await page.addInitScript(`
    addEventListener('securitypolicyviolation', (event) => {
      reportViolation([event.effectiveDirective, event.blockedURI, event.sourceFile, event.sample].join(' '));
    });
  `);
  page.on('request', (request) => {
    const url = request.url();
    if (!url.startsWith(`${origin}/`) && !url.startsWith('data:')) objections.push(`request to elsewhere: ${url}`);
  });
  page.on('response', (response) => {
    if (response.status() >= 400) objections.push(`${response.status()}: ${response.url()}`);
  });
  page.on('console', (message) => {
    if (message.type() === 'error') objections.push(`console: ${message.text()}`);
  });
  page.on('pageerror', (error) => objections.push(`error: ${error.message}`));
  return { page, objections, [Symbol.asyncDispose]: () => context.close() };
}
