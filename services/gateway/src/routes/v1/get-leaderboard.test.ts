/**
 * The tournament service is scripted here: the real one cannot be made to break off a table in the
 * middle.
 */
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { refused } from '@laurel/errors';
import { type Handlers, implement, startGrpcServer } from '@laurel/grpc';
import {
  type ListStandingsRequest,
  type ListStandingsResponse,
  PayoutStatus,
  RoundStatus,
  TournamentServiceService,
  GetLeaderboardResponse_View as View,
} from '@laurel/proto/tournament';
import { createLogger } from '@laurel/service';
import { createTestDatabase } from '@laurel/testing';
import { newId } from '@laurel/values/ids';
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { startScriptedIntegration } from '../../clients/integration.fixture.ts';
import { OPERATOR_TOKEN, startTestGateway } from '../../gateway.fixture.ts';

type Service = Handlers<typeof TournamentServiceService>;

const AT = new Date('2026-11-21T12:00:00.000Z');
const ROUND = {
  id: newId(),
  tenant: undefined,
  tournamentId: newId(),
  tournamentName: 'Cup',
  status: RoundStatus.SETTLED,
  opensAt: AT,
  closesAt: AT,
  entriesCloseAt: AT,
  settledAt: AT,
  entryFeeCents: 100n,
  purseTable: [{ rank: 1, amountCents: 1_000n }],
  entrantCount: 9,
  attemptCap: 3,
  minEntrants: 2,
  minScoredAttempts: 0,
  cancellation: undefined,
};

const stack = new AsyncDisposableStack();
let port: number;
let adminPort: number;
let key: string;
let getLeaderboard: Service['getLeaderboard'];
let listStandings: Service['listStandings'];
let pagesRead: ListStandingsRequest[] = [];
/** Log lines about failed requests. The gateway's workers may log errors of their own. */
let failures: string[] = [];

beforeAll(async () => {
  const silent = createLogger({ service: 'tournament', level: 'silent' });
  const logger = createLogger({
    service: 'gateway',
    level: 'error',
    destination: {
      write: (line: string) => {
        if (line.includes('request failed')) failures.push(line);
      },
    },
  });
  const unscripted = Object.keys(TournamentServiceService).map((rpc) => [rpc, async () => refused('not_found')]);
  const scripted: Service = {
    ...Object.fromEntries(unscripted),
    getLeaderboard: (request, context) => getLeaderboard(request, context),
    listStandings: (request, context) => {
      pagesRead.push(request);
      return listStandings(request, context);
    },
  };
  const service = stack.use(
    await startGrpcServer({
      host: '127.0.0.1',
      port: 0,
      services: [implement(TournamentServiceService, scripted, { logger: silent, callers: ['gateway'] })],
      logger: silent,
    }),
  );
  // The gateway announces the key's program to this service.
  const integration = stack.use(await startScriptedIntegration());
  const { runningUrl } = stack.use(
    await createTestDatabase({ migrations: new URL('../../../migrations/', import.meta.url) }),
  );
  const settings = {
    GATEWAY_DATABASE_URL: runningUrl,
    TOURNAMENT_ADDRESS: `127.0.0.1:${service.port}`,
    INTEGRATION_ADDRESS: integration.address,
  };
  ({ port, adminPort } = stack.use(await startTestGateway(settings, { logger })));
  const program = await fetch(`http://127.0.0.1:${port}/api/operator/programs`, {
    method: 'POST',
    headers: { authorization: `Bearer ${OPERATOR_TOKEN}`, 'content-type': 'application/json' },
    body: '{"name":"Test"}',
  });
  key = ((await program.json()) as { test_key: string }).test_key;
});
afterAll(() => stack.disposeAsync());
beforeEach(() => {
  pagesRead = [];
  failures = [];
});

const view = (view: View, scoredPlayers: number): Service['getLeaderboard'] => {
  return async () => ({
    round: ROUND,
    view,
    scoredPlayers,
    rows: view === View.WINDOW ? rows(5, 3) : [],
    playerEntryId: '',
  });
};

const rows = (from: number, count: number, playerRef = 'p') =>
  Array.from({ length: count }, (_row, index) => ({
    rank: BigInt(from + index),
    playerRef,
    bestScore: 1,
    bestTiebreak: undefined,
    bestScoreAt: AT,
    paidAttempts: 1,
    finalRank: undefined,
    payoutCents: undefined,
    payoutStatus: PayoutStatus.NONE,
    entryId: 'entry',
  }));

/** A table of this many rows, in pages of the requested size. */
const tableOf = (length: number, playerRef?: string): Service['listStandings'] => {
  return async ({ cursor, limit }): Promise<ListStandingsResponse> => {
    const from = cursor.length === 0 ? 1 : cursor.readInt32BE();
    const next = Buffer.alloc(4);
    next.writeInt32BE(from + limit);
    const count = Math.max(0, Math.min(limit, length + 1 - from));
    return { rows: rows(from, count, playerRef), nextCursor: count < limit ? Buffer.alloc(0) : next };
  };
};

function open(query = '?player_ref=p', roundId = ROUND.id): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const path = `/v1/tournaments/rounds/${roundId}/leaderboard${query}`;
    httpRequest({ port, path, headers: { 'x-api-key': key } }, resolve)
      .on('error', reject)
      .end();
  });
}

async function read(query?: string, roundId?: string) {
  const answer = await open(query, roundId);
  let text = '';
  for await (const chunk of answer.setEncoding('utf8')) text += chunk;
  return { status: answer.statusCode, headers: answer.headers, body: JSON.parse(text) };
}

/** The number of leaderboard requests answered with this HTTP status, from the metrics. */
async function countEnded(status: number): Promise<number> {
  const text = await (await fetch(`http://127.0.0.1:${adminPort}/metrics`)).text();
  const count = new RegExp(`_request_duration_seconds_count\\{.*leaderboard",status="${status}"[^}]*\\} (\\d+)`).exec(
    text,
  );
  return Number(count?.[1] ?? 0);
}

describe('boards', () => {
  test('a caller who may not see a board gets the masked board', async () => {
    getLeaderboard = view(View.MASKED, 7);
    const { status, body } = await read('');
    expect([status, body.locked, body.reason, body.scored_players]).toEqual([200, true, 'enter_to_see', 7]);
    expect(body).not.toHaveProperty('data');
  });

  test('a board is a window while the round runs', async () => {
    getLeaderboard = view(View.WINDOW, 7);
    const { status, body } = await read();
    expect([status, Object.keys(body)]).toEqual([200, ['round', 'scored_players', 'data']]);
    expect(body.data.map(({ rank }: { rank: number }) => rank)).toEqual([5, 6, 7]);
    expect(pagesRead).toEqual([]);
  });

  test('a malformed round id is not_found without a call to the tournament service', async () => {
    getLeaderboard = () => expect.fail('asked for nothing');
    expect((await read('', 'nonsense')).status).toBe(404);
  });

  test('a board is requested without a player if the player_ref is malformed', async () => {
    const asked: string[] = [];
    getLeaderboard = async ({ playerRef }) => {
      asked.push(playerRef);
      return refused('not_found');
    };
    for (const query of ['', '?player_ref=', '?player_ref=a%00', `?player_ref=${'x'.repeat(256)}`, '?player_ref=a+b']) {
      expect((await read(query)).status).toBe(404);
    }
    expect(asked).toEqual(['', '', '', '', 'a b']);
    expect((await read('?player_ref=a&player_ref=b')).status).toBe(400);
  });
});

describe('complete tables', () => {
  test.each([0, 1, 1_999, 2_000, 4_500])(
    'a complete table of %i rows is sent completely in one response',
    async (length) => {
      getLeaderboard = view(View.COMPLETE, length);
      listStandings = tableOf(length);
      const { status, headers, body } = await read();
      expect(status).toBe(200);
      expect(headers).toMatchObject({
        'content-type': 'application/json; charset=utf-8',
        'x-request-id': expect.any(String),
        'x-ratelimit-limit': '300',
        'x-ratelimit-remaining': expect.any(String),
      });
      expect(Object.keys(body)).toEqual(['round', 'scored_players', 'data']);
      expect(body.data.map(({ rank }: { rank: number }) => rank)).toEqual(
        Array.from({ length }, (_row, index) => index + 1),
      );
    },
  );

  test('a complete table whose first page fails is a 500 like any other', async () => {
    getLeaderboard = view(View.COMPLETE, 1);
    listStandings = async () => {
      throw new Error('gone');
    };
    const { status, body } = await read();
    expect([status, body.error.code]).toEqual([500, 'internal_error']);
  });

  test.each([
    ['fails', () => Promise.reject(new Error('gone'))],
    ['is refused', async () => refused('not_found')],
  ])('a complete table is cut off if a later page %s', async (_name, fail) => {
    getLeaderboard = view(View.COMPLETE, 9_000);
    const whole = tableOf(9_000);
    listStandings = (request, context) => (pagesRead.length === 3 ? fail() : whole(request, context));
    const endedBefore = { ours: await countEnded(500), theirs: await countEnded(499) };
    const answer = await open();
    expect(answer.statusCode).toBe(200);
    let text = '';
    const reading = (async () => {
      for await (const chunk of answer.setEncoding('utf8')) text += chunk;
    })();
    await expect(reading).rejects.toMatchObject({ code: 'ECONNRESET' });
    expect(() => JSON.parse(text)).toThrow();
    expect(pagesRead).toHaveLength(3);
    expect(failures).toEqual([expect.stringContaining('request failed')]);
    expect(await countEnded(500)).toBe(endedBefore.ours + 1);
    expect(await countEnded(499)).toBe(endedBefore.theirs);
  });

  test('a complete table is read no faster than its caller reads', async () => {
    getLeaderboard = view(View.COMPLETE, 1_000_000);
    listStandings = tableOf(1_000_000, 'x'.repeat(255));
    const answer = await open();
    answer.pause();
    // The gateway reads pages until the buffers between it and the caller are full. Then it reads
    // none.
    let seen = -1;
    const standsStill = () => {
      const before = seen;
      seen = pagesRead.length;
      expect(seen).toBe(before);
    };
    await vi.waitFor(standsStill, { timeout: 10_000, interval: 250 });
    expect(seen).toBeLessThan(50);
    answer.destroy();
  });

  test('no further page of a table is read once the caller has disconnected', async () => {
    const { promise: isReleased, resolve: release } = Promise.withResolvers<void>();
    const { promise: isThirdAsked, resolve: onThird } = Promise.withResolvers<void>();
    const whole = tableOf(1_000_000);
    const [leftBefore, failedBefore] = [await countEnded(499), await countEnded(500)];
    getLeaderboard = view(View.COMPLETE, 1_000_000);
    listStandings = async (request, context) => {
      if (pagesRead.length === 3) {
        onThird();
        await isReleased;
      }
      return whole(request, context);
    };
    const answer = await open();
    answer.resume();
    answer.on('error', () => {});
    await isThirdAsked;
    answer.destroy();
    // After one more request and its response, the gateway has noticed the disconnection, and has
    // received the page that it had requested.
    getLeaderboard = view(View.MASKED, 0);
    await read('');
    release();
    await read('');
    expect(pagesRead).toHaveLength(3);
    expect(failures).toEqual([]);
    expect(await countEnded(499)).toBe(leftBefore + 1);
    expect(await countEnded(500)).toBe(failedBefore);
  });
});
