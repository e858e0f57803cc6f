import { readFile } from 'node:fs/promises';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { hasChromium } from '../clients/chromium.ts';
import { type ObservedPage, observePage } from '../clients/observed-page.ts';
import { createReceiptVerifier } from '../money/verify-receipt.ts';
import { type Developer, expectStatus, type SharedWorld } from '../world.ts';
import { newSealedAttempt, newWonAttempt } from './attempt-items.ts';
import { OPEN_PORTAL_MS, openPage, openPortal, signInByPassword } from './open-portal.ts';

const KEYS = '**/.well-known/laurel-keys.json';
/** How many rows the prepared response of a list has. */
const MANY_ROWS = 100_000;

const stack = new AsyncDisposableStack();
let browser: Browser;
let world: SharedWorld;
let developer: Developer;
let won: Awaited<ReturnType<typeof newWonAttempt>>;

describe.skipIf(!(await hasChromium()))('attempts in the developer portal', () => {
  beforeAll(async () => {
    ({ world, developer, browser } = await openPortal(stack));
    won = await newWonAttempt(world, developer);
  }, OPEN_PORTAL_MS);
  afterAll(() => stack.disposeAsync());

  const pathOf = (rest: string) => `/p/${developer.program.id}/test/attempts${rest}`;

  async function openAttempts(rest: string, heading: string): Promise<ObservedPage> {
    const observed = await observePage(browser, world.stack.baseUrl);
    await signInByPassword(observed.page, developer);
    await openPage(observed.page, pathOf(rest), heading);
    return observed;
  }

  test('the list shows a new attempt on request and updates its status live', async () => {
    await using observed = await openAttempts('', 'Attempts');
    const { page, objections } = observed;
    await rowOf(page, won.attempt.id).getByText('won $5.00, paid').waitFor();
    const { test: partner } = developer.program;
    const player = await world.newPlayer({ partner });
    const asked = { challenge_id: won.challenge.id, player_ref: player.ref };
    const { id } = expectStatus(201, await partner.createAttempt(asked)).body;
    const isNew = page.getByRole('button', { name: '1 new' });
    await isNew.waitFor();
    expect(await rowOf(page, id).count()).toBe(0);
    await isNew.press('Enter');
    await rowOf(page, id).getByText('open', { exact: true }).waitFor();
    expectStatus(200, await partner.reportOutcome(id, { score: 1 }));
    await rowOf(page, id).getByText('not won', { exact: true }).waitFor();

    await page.getByLabel('Status').selectOption('expired');
    await page.getByText('No attempt matches').waitFor();
    expect(new URL(page.url()).search).toBe('?status=expired');
    await page.getByRole('button', { name: 'Clear' }).click();
    await rowOf(page, id).waitFor();
    // Half an id causes no request.
    const challenge = page.getByRole('searchbox', { name: 'Challenge' });
    await challenge.fill(won.challenge.id.slice(0, 8));
    await challenge.press('Enter');
    expect(await page.locator('input:invalid').count()).toBe(1);
    expect(new URL(page.url()).search).toBe('');
    await rowOf(page, id).waitFor();
    expect(objections).toEqual([]);
  });

  test('an attempt that no longer matches the filters remains in the list', async () => {
    const { test: partner } = developer.program;
    const player = await world.newPlayer({ partner });
    const create = async () => {
      const asked = { challenge_id: won.challenge.id, player_ref: player.ref };
      return expectStatus(201, await partner.createAttempt(asked)).body.id;
    };
    const [settled, open] = [await create(), await create()];
    await using observed = await openAttempts(`?status=open&player_ref=${player.ref}`, 'Attempts');
    const { page, objections } = observed;
    await rowOf(page, open).waitFor();
    await rowOf(page, settled).waitFor();
    const place = async () => (await rowOf(page, settled).boundingBox())?.y;
    const before = await place();
    expectStatus(200, await partner.reportOutcome(settled, { score: 1 }));
    await rowOf(page, settled).getByText('not won', { exact: true }).waitFor();
    expect(await place()).toBe(before);
    await rowOf(page, open).getByText('open', { exact: true }).waitFor();

    await page.getByLabel('Status').selectOption('settled');
    await rowOf(page, settled).waitFor();
    expect(await rowOf(page, open).count()).toBe(0);
    expectStatus(200, await partner.reportOutcome(open, { score: 1 }));
    await page.getByRole('button', { name: '1 new' }).click();
    await rowOf(page, open).getByText('not won', { exact: true }).waitFor();
    expect(objections).toEqual([]);
  });

  test('a challenge, its attempts, their requests and their player link to each other', async () => {
    const { challenge, attempt, player } = won;
    await using observed = await observePage(browser, world.stack.baseUrl);
    const { page, objections } = observed;
    await signInByPassword(page, developer);
    await openPage(page, `/p/${developer.program.id}/test/challenges/${challenge.id}`, challenge.name);
    await page.getByRole('link', { name: 'Show attempts' }).click();
    await page.waitForURL(`**/attempts?challenge_id=${challenge.id}`);
    await rowOf(page, attempt.id).getByRole('link', { name: player.ref }).click();
    await page.waitForURL(`**/attempts?player_ref=${player.ref}`);
    await page.locator(`a[href$="/attempts/${attempt.id}"]`).click();
    await page.getByRole('link', { name: 'Show requests' }).click();
    await page.waitForURL(`**/requests?attempt_id=${attempt.id}`);
    await page.getByRole('link', { name: `POST /v1/attempts/${attempt.id}/outcome` }).waitFor();
    await page.getByRole('link', { name: 'POST /v1/attempts', exact: true }).waitFor();
    await page.locator(`a[href$="/attempts/${attempt.id}"]`).first().click();
    await page.getByRole('heading', { level: 1, name: 'Attempt', exact: true }).waitFor();
    expect(objections).toEqual([]);
  });

  test('a developer verifies a receipt in the browser', async () => {
    const { hook, attempt, deliveryId } = won;
    await using observed = await openAttempts(`/${attempt.id}`, 'Attempt');
    const { page, objections } = observed;
    await page.getByText('Won $5.00, paid').waitFor();
    const timeline = page.getByRole('region', { name: 'Timeline' });
    for (const step of ['Attempt created', 'Fee of $1.00 charged', 'Outcome recorded', 'Award of $5.00 paid'])
      await timeline.getByText(step).waitFor();
    const sent = timeline.getByRole('listitem').filter({ hasText: 'Webhook attempt.settled sent' });
    expect(await sent.getByRole('link').getAttribute('href')).toContain(`/deliveries/${deliveryId}`);

    await page.getByRole('button', { name: 'Verify in this browser' }).press('Enter');
    await page.getByText('valid', { exact: true }).waitFor();
    await page.getByText('The receipt names this attempt').waitFor();
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Download the receipt' }).click(),
    ]);
    using verifier = createReceiptVerifier();
    const file = await readFile(await download.path(), 'utf8');
    expect(await verifier.verify(file, ...(await verifier.saveKeys(world.http)))).toMatchObject({ code: 0 });

    await page.getByRole('button', { name: 'Resend' }).press('Enter');
    await page.getByRole('dialog').getByRole('button', { name: 'Send again' }).press('Enter');
    const link = page.getByRole('link', { name: /^Resent as / });
    const resentId = (await link.getAttribute('href'))?.split('/').at(-1) ?? '';
    expect(resentId).not.toBe(deliveryId);
    const again = await hook.find((request) => request.deliveryId === resentId);
    expect(again.body.equals(hook.sendsOf(deliveryId)[0]?.body ?? Buffer.alloc(0))).toBe(true);
    expect(objections).toEqual([]);
  });

  test('the browser also verifies the seal of a settled round', async () => {
    const { attempt } = await newSealedAttempt(world, developer);
    await using observed = await openAttempts(`/${attempt.id}`, 'Attempt');
    const { page } = observed;
    const verify = page.getByRole('button', { name: 'Verify in this browser' });
    await verify.click();
    await page.getByText('counted it: rank 1, payout 5.00').waitFor();

    await page.route(KEYS, (route) => route.fulfill({ json: { keys: [] } }));
    await verify.click();
    await page.getByText('which is not among the trusted ones').waitFor();
    await page.getByText('not valid', { exact: true }).waitFor();
    await page.route(KEYS, (route) => route.abort());
    await verify.click();
    await page.getByText('The published keys could not be read. Use the command line below.').waitFor();
    await page.evaluate("crypto.subtle.generateKey = () => Promise.reject(new DOMException('', 'NotSupportedError'))");
    await verify.click();
    await page.getByText('This browser cannot check Ed25519 signatures. Use the command line below.').waitFor();
  });

  test('a list skips empty pages until a page has rows', async () => {
    await using observed = await observePage(browser, world.stack.baseUrl);
    const { page } = observed;
    await signInByPassword(page, developer);
    const pages = new Map([
      [null, { data: [], next_cursor: 'b' }],
      ['b', { data: [], next_cursor: 'c' }],
      ['c', { data: [lineOf(1)], next_cursor: 'd' }],
      ['d', { data: [lineOf(0)], next_cursor: null }],
    ]);
    /**
     * Two requests get no response the first time: the first poll, and the one for the last page.
     */
    const lost = new Set(['after=0', 'cursor=d']);
    await page.route('**/api/portal/programs/*/attempts?**', (route) => {
      const query = new URL(route.request().url()).searchParams;
      const [after, cursor] = [query.get('after'), query.get('cursor')];
      if (lost.delete(after === null ? `cursor=${cursor}` : `after=${after}`)) return route.abort();
      const found = after === null ? pages.get(cursor) : { data: [], next_cursor: null };
      return route.fulfill({ json: { ...found, head_cursor: cursor === null ? '0' : null } });
    });
    await openPage(page, pathOf(''), 'Attempts');
    await page.getByText('player-1').waitFor();
    await page.getByText('No answer: trying again').waitFor();
    await page.getByRole('button', { name: 'Load more' }).click();
    await page.getByRole('button', { name: 'Try again' }).click();
    await page.getByText('player-0').waitFor();
    await page.locator('.live-state', { hasText: 'Live' }).waitFor();
    expect(lost.size).toBe(0);
  });

  test('a list of 100,000 rows renders few of them', async () => {
    await using observed = await observePage(browser, world.stack.baseUrl);
    const { page, objections } = observed;
    await signInByPassword(page, developer);
    let isFirst = true;
    await page.route('**/api/portal/programs/*/attempts?**', (route) => {
      const after = new URL(route.request().url()).searchParams.get('after');
      // Later pages have the size of real ones.
      const pageRows = isFirst ? MANY_ROWS : 50;
      isFirst = false;
      const [count, newest] = after === null ? [pageRows, MANY_ROWS] : [3, Number(after) + 3];
      const lines = Array.from({ length: count }, (_, index) => lineOf(newest - index));
      const data = after === null ? lines : lines.toReversed();
      return route.fulfill({ json: { data, next_cursor: null, head_cursor: String(newest) } });
    });
    await openPage(page, pathOf(''), 'Attempts');
    await page.getByText(`player-${MANY_ROWS}`).waitFor();
    await page.evaluate('scrollTo(0, document.documentElement.scrollHeight / 2)');
    await page.getByText('player-50000', { exact: true }).waitFor();
    expect(await page.locator('tbody tr').count()).toBeLessThan(200);
    const before = await rowUnderPointer(page);
    await page.getByRole('button', { name: /^\d+ new$/ }).waitFor();
    expect(await rowUnderPointer(page)).toEqual(before);
    await page.evaluate("[...document.querySelectorAll('.live-bar button')].at(-1).click()");
    await page.getByRole('button', { name: /^\d+ new$/ }).waitFor({ state: 'detached' });
    const [text, top] = await rowUnderPointer(page);
    expect([text, Math.abs(top - before[1]) < 1]).toEqual([before[0], true]);
    await page.evaluate('scrollTo(0, document.documentElement.scrollHeight)');
    await page.getByText('player-1', { exact: true }).waitFor();
    expect(objections).toEqual([]);
  });
});

function rowOf(page: Page, attemptId: string) {
  return page.getByRole('row').filter({ has: page.locator(`a[href$="/attempts/${attemptId}"]`) });
}

/** The text of the row in the middle of the window, and where it begins. */
function rowUnderPointer(page: Page): Promise<[string, number]> {
  return page.evaluate(`(() => {
    const row = document.elementFromPoint(innerWidth / 2, innerHeight / 2).closest('tr');
    return [row.querySelector('td[data-label=Player]').textContent, row.getBoundingClientRect().top];
  })()`);
}

/** A row as the gateway lists it; a higher number is newer. */
function lineOf(number: number) {
  return {
    id: `01a216af-fecc-8155-887f-${String(number).padStart(12, '0')}`,
    challenge_id: '01a216ac-fc1f-7de8-9875-ddc57d3f1a9d',
    tournament_round_id: null,
    player_ref: `player-${number}`,
    status: 'settled',
    fee: '1.00',
    created_at: '2026-11-01T00:00:00.000Z',
    score: 1,
    met_threshold: false,
    award: null,
  };
}
