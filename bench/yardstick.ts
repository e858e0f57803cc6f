// The yardstick: the throughput of a plain Node program on the same PostgreSQL with the textbook
// approach, one connection a client and seven statements a transaction. It has no HTTP, services,
// idempotency or receipts.
import { randomUUID } from 'node:crypto';
import pg from 'pg';

const PLAYERS = 2000;
const HOUSE = 0;

/**
 * Runs the naive transaction over `clients` connections for `durationMs`; returns transactions per
 * second.
 */
export async function runYardstick(url: string, clients: number, durationMs: number): Promise<number> {
  await prepare(url);
  const connections = await Promise.all(
    Array.from({ length: clients }, async () => {
      const connection = new pg.Client({ connectionString: url });
      await connection.connect();
      return connection;
    }),
  );
  let transactions = 0;
  const started = performance.now();
  await Promise.all(
    connections.map(async (connection) => {
      while (performance.now() - started < durationMs) {
        await payOnce(connection);
        transactions += 1;
      }
    }),
  );
  const elapsedMs = performance.now() - started;
  await Promise.all(connections.map((connection) => connection.end()));
  return (transactions * 1000) / elapsedMs;
}

async function prepare(url: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query(`
    create table player (id int primary key, balance bigint not null check (balance >= 0));
    create table attempt (id uuid primary key, player_id int not null references player, fee bigint not null, created_at timestamptz not null default now());
    create table entry (id uuid primary key, player_id int not null references player, attempt_id uuid not null references attempt, amount bigint not null);
    create index attempt_by_player on attempt (player_id, created_at);
    insert into player select i, 1000000000000 from generate_series(${HOUSE}, ${PLAYERS}) i;
  `);
  await client.end();
}

/**
 * Runs seven statements: begin, lock the balance, count the day's attempts, insert the attempt,
 * insert the entry, update the balance, commit.
 */
async function payOnce(connection: pg.Client): Promise<void> {
  const player = 1 + Math.floor(Math.random() * PLAYERS);
  const attempt = randomUUID();
  await connection.query('begin');
  await connection.query('select balance from player where id = $1 for update', [player]);
  await connection.query(
    `select count(*) from attempt where player_id = $1 and created_at > now() - interval '1 day'`,
    [player],
  );
  await connection.query('insert into attempt (id, player_id, fee) values ($1, $2, 100)', [attempt, player]);
  await connection.query('insert into entry (id, player_id, attempt_id, amount) values ($1, $2, $3, -100)', [
    randomUUID(),
    player,
    attempt,
  ]);
  await connection.query('update player set balance = balance - 100 where id = $1', [player]);
  await connection.query('commit');
}

if (process.send) {
  process.on('message', (request: { url: string; clients: number; durationMs: number }) => {
    void runYardstick(request.url, request.clients, request.durationMs).then((perSecond) =>
      process.send?.({ perSecond }),
    );
  });
}
