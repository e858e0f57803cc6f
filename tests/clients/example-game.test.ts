import { execFile, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { CHECKOUT } from '@laurel/testing';
import axe from 'axe-core';
import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { fullBoard } from '../world.ts';
import { hasChromium } from './chromium.ts';
import { feesOf, useGame } from './game.ts';
import { observePage } from './observed-page.ts';

const EXAMPLE = join(CHECKOUT, 'examples/game');
const START = join(EXAMPLE, 'start.ts');
/** The metric of the contests for this game. */
const CLOCK = { metric_name: 'precision', metric_unit: 'points' };

test.each(['server.ts', 'game.js'])('%s of the example game has at most 200 lines', (file) => {
  const [text, readme] = [file, 'README.md'].map((name) => readFileSync(join(EXAMPLE, name), 'utf8'));
  const lines = text?.trimEnd().split('\n').length ?? 0;
  expect(lines).toBeLessThanOrEqual(200);
  expect(readme).toMatch(new RegExp(`\\[${file}\\].*\\b${lines} lines`));
});

describe('npm run example', () => {
  test('the example fails without a running stack and names the command that starts one', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'laurel-example-'));
    try {
      const environment = { ...process.env, LAUREL_DATA_DIR: folder };
      const run = promisify(execFile)(process.execPath, [START], { env: environment });
      await expect(run).rejects.toMatchObject({
        code: 1,
        stderr: expect.stringMatching(/^The stack is not running .*npm start/),
      });
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});

describe.skipIf(!(await hasChromium()))('the example game, played in Chromium', () => {
  const h = useGame();

  const card = (page: Page, name: string) => page.locator('.card', { hasText: name });
  /** An enabled button: the dialog's button is disabled for a moment after each step. */
  const button = (page: Page, name: string | RegExp) =>
    page.getByRole('button', { name, exact: true, disabled: false });

  async function signIn(page: Page, name: string): Promise<void> {
    await page.getByLabel('Your name').fill(name);
    await button(page, 'Sign in').click();
    await page.getByRole('heading', { name: 'Challenges' }).waitFor();
  }

  async function pay(page: Page, name: string): Promise<void> {
    await card(page, name).getByRole('button').click();
    await button(page, /^Pay /).click();
    await button(page, 'Start the clock').waitFor();
  }

  /** Starts and stops the clock at once, far from its goal, and returns the page's final text. */
  async function playRun(page: Page): Promise<string | null> {
    await button(page, 'Start the clock').click();
    await page.getByRole('timer').waitFor();
    await button(page, 'Stop').click();
    await button(page, 'Close').waitFor();
    return page.locator('#play-text').textContent();
  }

  test('a player pays, plays and wins the prize once', async () => {
    const name = `Winner ${Date.now()}`;
    // Every run wins the first challenge, because no score is below zero, and none wins the second.
    await h.world.newChallenge({ ...CLOCK, name: 'Easy clock', threshold: 0, prize: '5.00' });
    await h.world.newChallenge({ ...CLOCK, name: 'Hard clock', threshold: 2_001 });
    const round = await h.world.newRound({ ...CLOCK, name: 'Test cup' });
    await using opened = await h.openPage();
    const { page, violations } = opened;
    await signIn(page, name);
    await page.getByText('Enter to see the board.').waitFor();

    await pay(page, 'Easy clock');
    expect(await playRun(page)).toMatch(/^\d+ points\. You won 5\.00!$/);
    await button(page, 'Close').press('Enter');
    await card(page, 'Easy clock').waitFor({ state: 'detached' });

    await pay(page, 'Hard clock');
    expect(await playRun(page)).toMatch(/^\d+ points\. The bar was 2001\. Once more\?$/);
    await button(page, 'Close').press('Enter');

    await pay(page, 'Test cup');
    expect(await playRun(page)).toMatch(/^\d+ points\. You are on the board\.$/);
    await button(page, 'Close').press('Enter');
    await page.getByRole('cell', { name: `${name} (you)` }).waitFor();
    const board = fullBoard(await h.world.partner.getLeaderboard(round.id, name));
    const score = String(board.data[0]?.best_score);
    expect(await page.getByRole('row').nth(1).getByRole('cell').allTextContents()).toEqual([
      '1',
      `${name} (you)`,
      score,
    ]);
    expect(violations).toEqual([]);
  });

  test('three clicks on the pay button, a reload and a lost reply charge once', async () => {
    await h.world.newChallenge({ ...CLOCK, name: 'Stubborn clock', threshold: 0 });
    const player = await h.world.newPlayer({ funds: '5.00' });
    await using opened = await h.openPage();
    const { page, violations } = opened;
    await signIn(page, player.ref);
    await card(page, 'Stubborn clock').getByRole('button').click();
    h.game.replies = 'lose';
    try {
      await button(page, /^Pay /).click({ clickCount: 3 });
      await button(page, 'Ask again').waitFor();
    } finally {
      h.game.replies = 'pass';
    }
    await page.reload();
    await button(page, 'Ask again').click({ clickCount: 3 });
    await button(page, 'Start the clock').click();
    await page.getByRole('timer').waitFor();
    await page.reload();
    expect(await playRun(page)).toMatch(/You won/);
    expect(await feesOf(h.world, player)).toEqual(['-1.00']);
    expect(violations).toEqual([]);
  });

  test('the second click of a double click does not press the button of the next dialog', async () => {
    await h.world.newChallenge({ ...CLOCK, name: 'Hasty clock', threshold: 0 });
    const player = await h.world.newPlayer({ funds: '5.00' });
    await using opened = await h.openPage();
    const { page } = opened;
    await signIn(page, player.ref);
    await page.evaluate(`{
      const act = document.querySelector('#act');
      new MutationObserver(() => act.click()).observe(act, { childList: true });
    }`);
    const before = h.game.requests.length;
    await card(page, 'Hasty clock').getByRole('button').dblclick();
    await button(page, /^Pay /).dblclick();
    await button(page, 'Start the clock').dblclick();
    await button(page, 'Stop').dblclick();
    await button(page, 'Close').waitFor();
    const posts = h.game.requests.slice(before).filter(({ method }) => method === 'POST');
    expect(posts.map(({ path }) => path)).toEqual(['/laurel/attempts', '/game/start', '/game/stop']);
  });

  test('a player whose session ended during a run returns to the run after signing in', async () => {
    await h.world.newChallenge({ ...CLOCK, name: 'Patient clock', threshold: 0 });
    const player = await h.world.newPlayer({ funds: '5.00' });
    await using opened = await h.openPage();
    const { page } = opened;
    await signIn(page, player.ref);
    await pay(page, 'Patient clock');
    await button(page, 'Start the clock').click();
    // The clock runs, so the server has responded to the click.
    await button(page, 'Stop').waitFor();
    await opened.signOut();
    await button(page, 'Stop').click();
    await page.getByText('Your session is over: sign in again.').waitFor();
    await signIn(page, player.ref);
    expect(await playRun(page)).toMatch(/You won/);
    expect(await feesOf(h.world, player)).toEqual(['-1.00']);
  });

  test('a payment without a response is hidden from other players', async () => {
    await h.world.newChallenge({ ...CLOCK, name: 'Shared clock', threshold: 0 });
    const [first, second] = [await h.world.newPlayer(), await h.world.newPlayer()];
    await using opened = await h.openPage();
    const { page } = opened;
    await signIn(page, first.ref);
    await card(page, 'Shared clock').getByRole('button').click();
    h.game.replies = 'lose';
    try {
      await button(page, /^Pay /).click();
      await button(page, 'Ask again').waitFor();
    } finally {
      h.game.replies = 'pass';
    }
    await opened.signOut();
    await page.reload();
    await signIn(page, second.ref);
    expect(await page.getByRole('dialog').count()).toBe(0);
    await button(page, 'Sign out').click();
    await signIn(page, first.ref);
    await button(page, 'Ask again').click();
    expect(await playRun(page)).toMatch(/You won/);
    expect([await feesOf(h.world, first), await feesOf(h.world, second)]).toEqual([['-1.00'], []]);
  });

  test('the clock runs only for an open attempt of the signed-in player', async () => {
    const [player, other] = await Promise.all([h.world.newPlayer(), h.world.newPlayer()]);
    const challenge = await h.world.newChallenge();
    const others = await h.world.partner.createAttempt({ challenge_id: challenge.id, player_ref: other.ref });
    await using opened = await h.openPage();
    const answers = (attemptId: string) =>
      opened.page.evaluate(`Promise.all(['start', 'stop'].map(async (action) => {
        const headers = { 'content-type': 'application/json' };
        const body = JSON.stringify({ attempt_id: ${JSON.stringify(attemptId)} });
        return (await fetch('/game/' + action, { method: 'POST', headers, body })).status;
      }))`);
    expect(await answers(others.body.id)).toEqual([401, 401]);
    await opened.signIn(player);
    for (const id of [others.body.id, randomUUID(), 'no id']) expect(await answers(id)).toEqual([404, 404]);
  });

  test('a challenge of another game is not shown', async () => {
    const player = await h.world.newPlayer({ funds: '5.00' });
    const challenge = await h.world.newChallenge({ name: 'Lap', metric_name: 'laps', metric_unit: 'points' });
    await h.world.newChallenge({ ...CLOCK, name: 'Own clock', threshold: 0 });
    const attempt = await h.world.partner.createAttempt({ challenge_id: challenge.id, player_ref: player.ref });
    await using opened = await h.openPage();
    await signIn(opened.page, player.ref);
    await card(opened.page, 'Own clock').waitFor();
    expect(await card(opened.page, 'Lap').count()).toBe(0);
    const status = await opened.page.evaluate(`fetch('/game/start', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ attempt_id: ${JSON.stringify(attempt.body.id)} }),
    }).then((response) => response.status)`);
    expect(status).toBe(404);
  });

  test('Escape closes a run only before it is paid for', async () => {
    await h.world.newChallenge({ ...CLOCK, name: 'Escape clock', threshold: 2_001 });
    const player = await h.world.newPlayer({ funds: '5.00' });
    await using opened = await h.openPage();
    const { page } = opened;
    await signIn(page, player.ref);
    await card(page, 'Escape clock').getByRole('button').click();
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'hidden' });
    expect(await feesOf(h.world, player)).toEqual([]);
    await pay(page, 'Escape clock');
    await page.keyboard.press('Escape');
    expect(await page.getByRole('dialog').isVisible()).toBe(true);
    await playRun(page);
  });

  test('the page’s content security policy refuses what the page does not need', async () => {
    await using opened = await h.openPage();
    const { page, violations } = opened;
    const inject = `(() => { try { document.body.innerHTML = '<b>x</b>'; return 'set'; } catch { return 'refused'; } })()`;
    expect(await page.evaluate(inject)).toBe('refused');
    const elsewhere = `fetch('https://example.com/').then(() => 'read', () => 'refused')`;
    expect(await page.evaluate(elsewhere)).toBe('refused');
    await expect.poll(() => violations.length).toBe(2);
    expect(violations.join('\n')).toMatch(/require-trusted-types-for/);
    expect(violations.join('\n')).toMatch(/connect-src https:\/\/example\.com/);
  });

  test('these tests notice a policy violation, a 404 and an error of a page', async () => {
    await using observed = await observePage(h.browser, h.game.url);
    const { page, objections } = observed;
    await page.goto('/');
    await page.getByLabel('Your name').waitFor();
    expect(objections).toEqual([]);
    await page.evaluate(`fetch('https://example.com/').catch(() => {})`);
    await page.evaluate(`fetch('/missing')`);
    await page.evaluate(`setTimeout(() => { throw new Error('late'); })`);
    const expected = [
      expect.stringMatching(/^violation: connect-src https:\/\/example\.com\//),
      `404: ${h.game.url}/missing`,
      'error: late',
    ];
    await expect.poll(() => objections).toEqual(expect.arrayContaining(expected));
  });

  test.each(['light', 'dark'] as const)(
    'the page has no accessibility violation in %s colours',
    async (colorScheme) => {
      await h.world.newChallenge({ ...CLOCK, name: `Clock in ${colorScheme}`, threshold: 0 });
      const player = await h.world.newPlayer({ funds: '5.00' });
      await using opened = await h.openPage();
      const { page } = opened;
      await page.emulateMedia({ colorScheme });
      const defects = async () => {
        await page.evaluate(axe.source);
        const { violations } = (await page.evaluate('axe.run()')) as axe.AxeResults;
        return violations.map(({ id, nodes }) => [id, ...nodes.map(({ html }) => html)]);
      };
      expect(await defects()).toEqual([]);
      await signIn(page, player.ref);
      expect(await defects()).toEqual([]);
      await pay(page, `Clock in ${colorScheme}`);
      expect(await defects()).toEqual([]);
      await playRun(page);
    },
  );

  // Two processes start, one after the other.
  const START_LIMIT_MS = 120_000;
  test('npm run example serves the game with its contests in the demo program', {
    timeout: START_LIMIT_MS,
  }, async () => {
    const program = await h.world.newProgram();
    const folder = mkdtempSync(join(tmpdir(), 'laurel-example-'));
    const authorization = h.world.http.journal.find(({ path }) => path.startsWith('/api/operator/'))?.headers
      .authorization;
    const ready = {
      base_url: `${new URL(h.world.stack.baseUrl).origin}/v1`,
      operator_token: authorization?.replace('Bearer ', ''),
      demo: { program_id: program.id, test_key: program.test.apiKey },
    };
    writeFileSync(join(folder, 'ready.json'), JSON.stringify(ready));
    const environment = { ...process.env, LAUREL_DATA_DIR: folder, EXAMPLE_PORT: '0' };
    try {
      // The second start finds the contests of the first. npm passes TERM only to its shell.
      for (const [command, ...args] of [
        [process.execPath, START],
        ['npm', 'run', '--silent', 'example'],
      ] as const) {
        const child = spawn(command, args, { cwd: CHECKOUT, env: environment, stdio: ['ignore', 'pipe', 'inherit'] });
        const exited = once(child, 'exit');
        let url = '';
        try {
          const [line = ''] = await Promise.race([
            once(createInterface(child.stdout), 'line') as Promise<string[]>,
            exited.then(([code]) => Promise.reject(new Error(`npm run example ended with ${code}`))),
          ]);
          url = /http:\/\/127\.0\.0\.1:\d+/.exec(line)?.[0] ?? expect.fail(line);
          await using context = await h.browser.newContext();
          const page = await context.newPage();
          await page.goto(url);
          await signIn(page, 'Visitor');
          await card(page, 'Clock cup').waitFor();
          expect(await card(page, 'Stop the clock').count()).toBe(1);
        } finally {
          child.kill('SIGTERM');
        }
        const ended = await exited;
        if (command === process.execPath) expect(ended).toEqual([0, null]);
        const isServing = () =>
          fetch(url).then(
            () => true,
            () => false,
          );
        await expect.poll(isServing, { timeout: 10_000 }).toBe(false);
      }
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});
