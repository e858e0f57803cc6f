import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { hasChromium } from '../clients/chromium.ts';
import { observePage } from '../clients/observed-page.ts';
import { type Developer, expectStatus, type SharedWorld } from '../world.ts';
import { OPEN_PORTAL_MS, openPortal } from './open-portal.ts';

const stack = new AsyncDisposableStack();
let browser: Browser;
let world: SharedWorld;
let developer: Developer;

describe.skipIf(!(await hasChromium()))('a one-time sign-in link', () => {
  beforeAll(async () => {
    ({ world, developer, browser } = await openPortal(stack));
  }, OPEN_PORTAL_MS);
  afterAll(() => stack.disposeAsync());

  test('a sign-in link works once, and its token is not in the browser’s history', async () => {
    const made = await world.operator.send<{ token: string }>('POST', `/developers/${developer.id}/sign-in-link`);
    const { token } = expectStatus(201, made).body;
    const { baseUrl } = world.stack;
    await using observed = await observePage(browser, baseUrl);
    const { page, objections } = observed;
    await page.goto(`/portal/sign-in#${token}`);
    // The only program of the developer opens.
    await page.waitForURL(`${baseUrl}/portal/p/${developer.program.id}/test/**`);
    await page.getByRole('button', { name: 'Sign out' }).waitFor();
    expect(await page.content()).not.toContain(token);
    expect(objections).toEqual([]);
    await page.goBack();
    expect(page.url()).not.toContain(token);

    await using second = await observePage(browser, baseUrl);
    await second.page.goto(`/portal/sign-in#${token}`);
    await second.page.getByText('This link has expired or was used before').waitFor();
    expect(second.page.url()).toBe(`${baseUrl}/portal/sign-in`);
  });
});
