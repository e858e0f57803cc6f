/**
 * The example game of a world's program, on a server whose replies a test can hold or lose, and
 * pages of Chromium that play it.
 */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createGame } from '@laurel/example-game';
import { bundlePage } from '@laurel/example-game/bundle';
import { Laurel } from '@laurel/sdk';
import { useStarted } from '@laurel/testing/harness';
import type { Browser, Page } from 'playwright-core';
import { rolldown } from 'rolldown';
import { expect } from 'vitest';
import { expectStatus, joinWorld, type Player, type SharedWorld } from '../world.ts';
import { launchChromium } from './chromium.ts';
import { createPartnerProject } from './partner-project.ts';

interface GameRequest {
  readonly method: string;
  readonly path: string;
  /** Whether the request carried a cookie. */
  readonly cookie: boolean;
  /** The status is undefined until the response is complete. */
  status: number | undefined;
}

interface Game extends AsyncDisposable {
  readonly url: string;
  /**
   * What the server does from now on with replies to requests that pay. It processes each request
   * in any case.
   */
  replies: 'pass' | 'lose' | 'hold';
  /** Every request that the server has received. */
  readonly requests: readonly GameRequest[];
  /** Resolves when the reply to the next request that pays is ready. */
  nextPayment(): Promise<void>;
}

export interface GameSuite extends AsyncDisposable {
  readonly world: SharedWorld;
  readonly game: Game;
  readonly browser: Browser;
  /** A separate browser context with the game's page and an initialised `laurel`. */
  openPage(): Promise<GamePage>;
}

/** Shared by the tests of one file: a world, the game of its program, and a browser. */
export function useGame(): GameSuite {
  return useStarted(async () => {
    await using started = new AsyncDisposableStack();
    const world = started.use(await joinWorld());
    const game = started.use(await startGame(world));
    const browser = started.adopt(await launchChromium(), (launched) => launched.close());
    const owned = started.move();
    return {
      world,
      game,
      browser,
      openPage: () => openPage(browser, game),
      [Symbol.asyncDispose]: () => owned.disposeAsync(),
    };
  });
}

/** Also serves `/probe.js`: only the packed browser library, for tests that call it in the page. */
async function startGame(world: SharedWorld): Promise<Game> {
  const baseUrl = new URL(world.stack.baseUrl).origin;
  const laurel = new Laurel({ apiKey: world.partner.apiKey, baseUrl, deadlineMs: 20_000 });
  const app = createGame({ laurel, script: await bundlePage() });
  const probe = await bundleProbe();
  const requests: GameRequest[] = [];
  let paid = Promise.withResolvers<void>();

  const server = createServer((request, response) => {
    const { method = '', url: path = '' } = request;
    const entry: GameRequest = { method, path, cookie: request.headers.cookie !== undefined, status: undefined };
    requests.push(entry);
    response.once('finish', () => {
      entry.status = response.statusCode;
    });
    if (path === '/probe.js') {
      response.writeHead(200, { 'content-type': 'text/javascript' }).end(probe);
      return;
    }
    if (method === 'POST' && path === '/laurel/attempts') onEnd(request, response, game, () => paid.resolve());
    app(request, response);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');

  const game: Game = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    replies: 'pass',
    requests,
    nextPayment() {
      paid = Promise.withResolvers();
      return paid.promise;
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await server[Symbol.asyncDispose]();
    },
  };
  return game;
}

function onEnd(request: IncomingMessage, response: ServerResponse, game: Game, onReady: () => void): void {
  const end = response.end.bind(response);
  response.end = ((body: Uint8Array) => {
    if (game.replies === 'pass') end(body);
    if (game.replies === 'lose') request.socket.destroy();
    onReady();
    return response;
  }) as typeof response.end;
}

async function bundleProbe(): Promise<string> {
  await using project = await createPartnerProject(['libs/browser']);
  await using build = await rolldown({ input: '@laurel/browser', cwd: project.folder });
  const { output } = await build.generate({ format: 'esm' });
  return output[0].code;
}

export interface GamePage extends AsyncDisposable {
  readonly page: Page;
  /** The violations of the content security policy since the page was opened, over its reloads. */
  readonly violations: readonly string[];
  /** Signs in as the player, without the form. */
  signIn(player: Pick<Player, 'ref'>): Promise<void>;
  signOut(): Promise<void>;
  /**
   * Evaluates an expression with `laurel` in the page; returns a failure as its code and server
   * code.
   */
  call(expression: string): Promise<unknown>;
}

async function openPage(browser: Browser, game: Game): Promise<GamePage> {
  const context = await browser.newContext();
  const page = await context.newPage();
  const violations: string[] = [];
  await page.exposeFunction('reportViolation', (violation: string) => void violations.push(violation));
  await page.addInitScript(`addEventListener('securitypolicyviolation', (event) =>
    reportViolation(event.violatedDirective + ' ' + event.blockedURI + ' ' + event.sample))`);
  await page.goto(game.url);
  const request = (method: string, name?: string) =>
    page.evaluate(`fetch('/game/session', { method: '${method}', headers: { 'content-type': 'application/json' },
      body: ${name === undefined ? 'null' : JSON.stringify(JSON.stringify({ name }))} }).then(({ status }) => status)`);
  return {
    page,
    violations,
    async signIn({ ref }) {
      expect(await request('POST', ref)).toBe(200);
    },
    async signOut() {
      expect(await request('DELETE')).toBe(204);
    },
    call: (expression) =>
      page.evaluate(`(async () => {
        const { laurel } = await import('/probe.js');
        try {
          return await (${expression});
        } catch (error) {
          return { name: error.name, code: error.code, serverCode: error.serverCode };
        }
      })()`),
    [Symbol.asyncDispose]: () => context.close(),
  };
}

/** The player's charges in the wallet's statement: `-1.00`. */
export async function feesOf(world: SharedWorld, player: Player): Promise<readonly string[]> {
  const { data } = expectStatus(200, await world.operator.statement(player.accountId, 'test')).body;
  return data.filter(({ kind }) => kind === 'fee').map(({ amount }) => amount);
}
