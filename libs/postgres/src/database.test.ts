import fc from 'fast-check';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { createDatabase, type Database } from './database.ts';
import { ConnectionFailedError, isConnectionFailure, isUniqueViolation } from './errors.ts';
import { createScratchDatabase, type ScratchDatabase } from './scratch-database.fixture.ts';
import type { Queryable } from './transaction.ts';

const INSERT = {
  name: 'insert-thing',
  text: 'insert into things (id, amount) values ($1, $2) returning id, amount',
};
const COUNT = { text: 'select count(*) as count from things' };

let scratch: ScratchDatabase;
let database: Database;

beforeAll(async () => {
  scratch = await createScratchDatabase();
  database = open();
  await database.query({
    text: `create table things (
      id bigint primary key,
      amount bigint not null,
      constraint things_amount_positive check (amount > 0)
    )`,
  });
});
beforeEach(async () => {
  await database.query({ text: 'truncate things' });
});
afterAll(async () => {
  await database[Symbol.asyncDispose]();
  await scratch[Symbol.asyncDispose]();
});

function open(options: { maxConnections?: number; statementTimeoutMs?: number } = {}): Database {
  return createDatabase({ url: scratch.url, maxConnections: 4, applicationName: 'database-test', ...options });
}

function insert(tx: Queryable, id: bigint): Promise<unknown> {
  return tx.query(INSERT, [id, 1n]);
}

async function count(): Promise<bigint | undefined> {
  return (await database.query<{ count: bigint }>(COUNT))[0]?.count;
}

describe('a transaction', () => {
  test('a transaction commits its writes and returns the result of its work', async () => {
    const rows = await database.transaction((tx) => tx.query(INSERT, [1n, 500n]));
    expect(rows).toEqual([{ id: 1n, amount: 500n }]);
    expect(await count()).toBe(1n);
  });

  test('a transaction rolls back and rethrows the error of its work', async () => {
    const bug = new Error('a bug');
    const work = database.transaction(async (tx) => {
      await tx.query(INSERT, [1n, 500n]);
      throw bug;
    });
    await expect(work).rejects.toBe(bug);
    expect(await count()).toBe(0n);
  });

  test('a transaction rolls back if the step before the commit throws', async () => {
    const work = database.transaction((tx) => tx.query(INSERT, [1n, 500n]), {
      beforeCommit: () => {
        throw new Error('failpoint');
      },
    });
    await expect(work).rejects.toThrow('failpoint');
    expect(await count()).toBe(0n);
  });

  test('a transaction that catches the error of a statement is not reported as committed', async () => {
    const work = database.transaction(async (tx) => {
      await tx.query(INSERT, [1n, 500n]);
      await tx.query(INSERT, [1n, 500n]).catch(() => undefined);
    });
    await expect(work).rejects.toThrow('was rolled back');
    expect(await count()).toBe(0n);
  });

  test('a transaction runs its statements in their order, whatever the first one is', async () => {
    const select = { text: 'select count(*) as count from things' };
    const counts = await database.transaction(async (tx) => {
      const rows = await Promise.all([
        tx.query(select),
        insert(tx, 1n),
        tx.query(select),
        insert(tx, 2n),
        tx.query(select),
      ]);
      return [rows[0], rows[2], rows[4]];
    });
    expect(counts).toEqual([[{ count: 0n }], [{ count: 1n }], [{ count: 2n }]]);
    const later = await database.transaction(async (tx) => {
      const rows = await Promise.all([insert(tx, 3n), tx.query(select), insert(tx, 4n), tx.query(select)]);
      return [rows[1], rows[3]];
    });
    expect(later).toEqual([[{ count: 3n }], [{ count: 4n }]]);
  });

  test('a transaction holds the locks of its first statement until its end', async () => {
    const lock = { text: 'select pg_advisory_xact_lock(1)' };
    // pg_locks shows the whole server, on which other tests hold locks in their own databases.
    const held = {
      text: `select count(*) as count from pg_locks where locktype = 'advisory' and granted
        and database = (select oid from pg_database where datname = current_database())`,
    };
    const counts = await database.transaction(async (tx) => {
      await tx.query(lock);
      return await database.query(held);
    });
    expect(counts).toEqual([{ count: 1n }]);
    expect(await database.query(held)).toEqual([{ count: 0n }]);
  });

  test('a transaction sends its last statements together with its commit', async () => {
    const answer = await database.transaction(async (tx) => {
      await insert(tx, 1n);
      return await tx.commitWith((last) => Promise.all([insert(last, 2n), last.query<{ count: bigint }>(COUNT)]));
    });
    expect(answer[1]).toEqual([{ count: 2n }]);
    expect(await count()).toBe(2n);
  });

  test('a transaction may consist of last statements only', async () => {
    await database.transaction((tx) => tx.commitWith((last) => Promise.all([insert(last, 1n), insert(last, 2n)])));
    expect(await count()).toBe(2n);
    const failing = database.transaction((tx) =>
      tx.commitWith((last) => Promise.all([insert(last, 3n), insert(last, 1n)])),
    );
    await expect(failing).rejects.toSatisfy((error) => isUniqueViolation(error));
    expect(await count()).toBe(2n);
  });

  test('a transaction rolls back if one of its last statements fails', async () => {
    const failing = database.transaction(async (tx) => {
      await insert(tx, 1n);
      await tx.commitWith((last) => Promise.all([insert(last, 2n), insert(last, 2n)]));
    });
    await expect(failing).rejects.toSatisfy((error) => isUniqueViolation(error));
    const unmade = database.transaction(async (tx) => {
      await insert(tx, 1n);
      await tx.commitWith(async () => {
        throw new Error('a row cannot be composed');
      });
    });
    await expect(unmade).rejects.toThrow('a row cannot be composed');
    expect(await count()).toBe(0n);
  });

  test('a transaction ends when its last statements are sent', async () => {
    const late = database.transaction(async (tx) => {
      await tx.commitWith((last) => insert(last, 1n));
      await insert(tx, 2n);
    });
    await expect(late).rejects.toThrow('the transaction is over');
    expect(await count()).toBe(1n);
  });

  test('a transaction may be empty', async () => {
    expect(await database.transaction(async () => 1)).toBe(1);
    await expect(database.transaction(() => Promise.reject(new Error('early')))).rejects.toThrow('early');
    const isThrown = database.transaction(() => {
      throw new Error('at once');
    });
    await expect(isThrown).rejects.toThrow('at once');
  });

  test('a transaction accepts no statement after its end', async () => {
    const late = await database.transaction(async (tx) => () => tx.query(INSERT, [1n, 500n]));
    await expect(late()).rejects.toThrow('the transaction is over');
    expect(await count()).toBe(0n);
  });

  test('a transaction waits for the disk unless `durable` is false', async () => {
    const text = `select current_setting('transaction_isolation') as isolation, current_setting('synchronous_commit') as wait`;
    const ask = (durable?: boolean) =>
      database.transaction((tx) => tx.query({ text }), durable === undefined ? {} : { durable });
    expect(await ask()).toEqual([{ isolation: 'read committed', wait: 'on' }]);
    expect(await ask(false)).toEqual([{ isolation: 'read committed', wait: 'off' }]);
    expect(await ask(true)).toEqual([{ isolation: 'read committed', wait: 'on' }]);
  });

  test('a transaction that fails leaves a usable connection', async () => {
    await using single = open({ maxConnections: 1 });
    for (let round = 0; round < 3; round += 1) {
      await expect(single.transaction((tx) => tx.query(INSERT, [1n, -1n]))).rejects.toThrow('things_amount_positive');
      expect(await single.query({ text: 'select 1 as one' })).toEqual([{ one: 1 }]);
    }
  });
});

describe('a single write', () => {
  test('a single write commits, durably or not, and returns its rows', async () => {
    expect(await database.write(INSERT, [1n, 5n], { durable: true })).toEqual([{ id: 1n, amount: 5n }]);
    expect(await database.write(INSERT, [2n, 6n], { durable: false })).toEqual([{ id: 2n, amount: 6n }]);
    expect(await count()).toBe(2n);
  });

  test('a failed single write leaves a usable connection', async () => {
    await using single = open({ maxConnections: 1 });
    for (const durable of [true, false]) {
      await expect(single.write(INSERT, [1n, -1n], { durable })).rejects.toThrow('things_amount_positive');
      await expect(single.write(INSERT, [1n], { durable })).rejects.toThrow('bind message supplies 1 parameters');
      await expect(single.write(INSERT, ['x', 1n], { durable })).rejects.toThrow('invalid input syntax');
      expect(await single.write({ text: 'select 1 as one' }, [], { durable })).toEqual([{ one: 1 }]);
    }
    expect(await count()).toBe(0n);
  });

  test('a single write that is not durable is still one transaction', async () => {
    const text = `select current_setting('synchronous_commit') as wait`;
    expect(await database.write({ text }, [], { durable: false })).toEqual([{ wait: 'off' }]);
    expect(await database.write({ text }, [], { durable: true })).toEqual([{ wait: 'on' }]);
  });
});

describe('a batch', () => {
  test('a batch commits all of its statements and returns the rows of each', async () => {
    const [first, counted] = await database.batch<[{ id: bigint }, { count: bigint }]>([
      { statement: INSERT, values: [1n, 5n] },
      { statement: COUNT },
    ]);
    expect([first, counted]).toEqual([[{ id: 1n, amount: 5n }], [{ count: 1n }]]);
    expect(await database.batch([])).toEqual([]);
    expect(await count()).toBe(1n);
  });

  test('a batch undoes all of its statements if one fails', async () => {
    await using single = open({ maxConnections: 1 });
    for (const durable of [true, false]) {
      const twice = single.batch(
        [1n, 2n, 2n, 3n].map((id) => ({ statement: INSERT, values: [id, 1n] })),
        { durable },
      );
      await expect(twice).rejects.toSatisfy((error) => isUniqueViolation(error, 'things_pkey'));
      expect(await single.query({ text: 'select 1 as one' })).toEqual([{ one: 1 }]);
    }
    expect(await count()).toBe(0n);
  });

  test('a batch sends nothing if the step before the commit throws', async () => {
    const work = database.batch([{ statement: INSERT, values: [1n, 5n] }], {
      beforeCommit: () => {
        throw new Error('failpoint');
      },
    });
    await expect(work).rejects.toThrow('failpoint');
    expect(await count()).toBe(0n);
  });

  test('a batch waits for the disk unless `durable` is false', async () => {
    const text = `select current_setting('transaction_isolation') as isolation, current_setting('synchronous_commit') as wait`;
    const ask = async (durable?: boolean) =>
      (await database.batch([{ statement: { text } }], durable === undefined ? {} : { durable }))[0];
    expect(await ask()).toEqual([{ isolation: 'read committed', wait: 'on' }]);
    expect(await ask(false)).toEqual([{ isolation: 'read committed', wait: 'off' }]);
    expect(await ask(true)).toEqual([{ isolation: 'read committed', wait: 'on' }]);
  });

  test('a batch holds the locks of its first statement until the commit', async () => {
    const lock = { statement: { text: 'select pg_advisory_xact_lock(2)' } };
    const waiting = {
      text: `select count(*) as count from pg_locks where locktype = 'advisory' and not granted
        and database = (select oid from pg_database where datname = current_database())`,
    };
    const waits = async () => {
      while ((await database.query<{ count: bigint }>(waiting))[0]?.count !== 1n);
    };
    let late: Promise<readonly unknown[][]> | undefined;
    await database.transaction(async (tx) => {
      await tx.query(lock.statement);
      late = database.batch([lock, { statement: COUNT }]);
      await waits();
      await insert(tx, 1n);
    });
    expect((await late)?.[1]).toEqual([{ count: 1n }]);

    const held = { text: 'select pg_try_advisory_xact_lock(2) as had' };
    const gate = { statement: { text: 'select pg_advisory_xact_lock(3)' } };
    let holding: Promise<readonly unknown[][]> | undefined;
    await database.transaction(async (tx) => {
      await tx.query(gate.statement);
      holding = database.batch([lock, gate]);
      await waits();
      expect(await database.query(held)).toEqual([{ had: false }]);
    });
    await holding;
    expect(await database.query(held)).toEqual([{ had: true }]);
  });
});

describe('statements', () => {
  test('statements with a name are prepared once per connection', async () => {
    await using single = open({ maxConnections: 1 });
    for (const id of [1n, 2n, 3n]) await single.write(INSERT, [id, 1n], { durable: false });
    const text = `select name, generic_plans + custom_plans as runs from pg_prepared_statements where name like 'insert%'`;
    expect(await single.query({ text })).toEqual([{ name: 'insert-thing', runs: 3n }]);
  });

  test('statements that a failure left unprepared are prepared the next time', async () => {
    await using single = open({ maxConnections: 1 });
    const early = { statement: { name: 'early', text: 'select 1 as one' } };
    const missing = { statement: { name: 'missing', text: 'select id from missing' } };
    const skipped = { statement: { name: 'skipped', text: 'select 2 as two' } };
    await expect(single.batch([early, missing, skipped])).rejects.toThrow('"missing" does not exist');
    await single.query({ text: 'create table missing (id bigint)' });
    expect(await single.batch([early, missing, skipped])).toEqual([[{ one: 1 }], [], [{ two: 2 }]]);
    expect(await single.batch([skipped, early, missing])).toEqual([[{ two: 2 }], [{ one: 1 }], []]);
    await single.query({ text: 'drop table missing' });
  });

  test('statements whose rows a migration changed are prepared again', async () => {
    await using single = open({ maxConnections: 1 });
    await single.query({ text: 'create table changing (id bigint)' });
    await single.query({ text: 'insert into changing values (1)' });
    const all = { name: 'all-of-changing', text: 'select * from changing' };
    const change = (name: string) => single.query({ text: `alter table changing add column ${name} int default 7` });
    expect(await single.query(all)).toEqual([{ id: 1n }]);
    await change('a');
    expect(await single.query(all)).toEqual([{ id: 1n, a: 7 }]);
    await change('b');
    expect(await single.batch([{ statement: COUNT }, { statement: all }])).toEqual([
      [{ count: 0n }],
      [{ id: 1n, a: 7, b: 7 }],
    ]);
    await change('c');
    // The transaction may have decided something already, so it is not repeated; the next one
    // succeeds.
    const inside = () => single.transaction((tx) => tx.query(all));
    await expect(inside()).rejects.toThrow('cached plan must not change result type');
    expect(await inside()).toEqual([{ id: 1n, a: 7, b: 7, c: 7 }]);
    await single.query({ text: 'drop table changing' });
  });

  test('statements after a failed begin are not run', async () => {
    await using single = open({ maxConnections: 1 });
    await single.transaction((tx) => insert(tx, 1n));
    await single.query({ text: 'deallocate all' });
    const unopened = single.transaction(async (tx) => {
      await insert(tx, 2n).catch(() => {});
      await insert(tx, 3n).catch(() => {});
    });
    await expect(unopened).rejects.toThrow('"transaction-begin" does not exist');
    expect(await count()).toBe(1n);
    await single.transaction((tx) => insert(tx, 4n));
    expect(await count()).toBe(2n);
  });

  test('the commands of one statement without a name fail together', async () => {
    const both = (id: number) => ({
      text: `insert into things values (${id}, 1); insert into things values (${id + 1}, 1)`,
    });
    expect(await database.query(both(1))).toEqual([]);
    await expect(database.query(both(0))).rejects.toSatisfy((error) => isUniqueViolation(error));
    const swallowing = database.transaction(async (tx) => {
      await insert(tx, 7n);
      await tx.query(both(0)).catch(() => {});
    });
    await expect(swallowing).rejects.toThrow('was rolled back');
    expect(await count()).toBe(2n);
  });

  test('statements with the same name must have the same text', async () => {
    await using single = open({ maxConnections: 1 });
    const [one, two] = ['select 1 as n', 'select 2 as n'].map((text) => ({ statement: { name: 'same', text } }));
    await expect(single.batch([one, two] as never)).rejects.toThrow('is another one already');
    expect(await single.query({ name: 'same', text: 'select 2 as n' })).toEqual([{ n: 2 }]);
  });

  test('statements whose values cannot be encoded are not sent', async () => {
    await using single = open({ maxConnections: 1 });
    const value = {};
    Object.assign(value, { value });
    const unsendable = single.transaction(async (tx) => {
      await insert(tx, 1n);
      await tx.query(INSERT, [2n, value]);
    });
    await expect(unsendable).rejects.toThrow('circular');
    expect(await single.query({ text: 'select $1 as long' }, ['ü'.repeat(1_000_000)])).toEqual([
      { long: 'ü'.repeat(1_000_000) },
    ]);
    expect(await count()).toBe(0n);
  });

  test('statements that are sent together in a transaction run in their order', async () => {
    const ids = Array.from({ length: 50 }, (_, index) => BigInt(index));
    await database.transaction(async (tx) => {
      await Promise.all(ids.map((id) => tx.query(INSERT, [id, id + 1n])));
    });
    const rows = await database.query<{ id: bigint }>({ text: 'select id from things order by ctid' });
    expect(rows.map(({ id }) => id)).toEqual(ids);
  });

  test('statements of a snapshot transaction all see the database at the time of the first statement', async () => {
    await using other = open();
    await database.query(INSERT, [1n, 1n]);
    const counts = await database.transaction(
      async (tx) => {
        const before = await tx.query<{ count: bigint }>(COUNT);
        await other.query(INSERT, [2n, 2n]);
        return [before, await tx.query<{ count: bigint }>(COUNT)];
      },
      { isSnapshot: true },
    );
    expect(counts).toEqual([[{ count: 1n }], [{ count: 1n }]]);
    expect(await count()).toBe(2n);
    const writing = database.transaction((tx) => tx.query(INSERT, [3n, 3n]), { isSnapshot: true });
    await expect(writing).rejects.toMatchObject({ code: '25006' });
  });

  test('a statement that takes too long is cancelled', async () => {
    await using hasty = open({ statementTimeoutMs: 50 });
    await expect(hasty.query({ text: 'select pg_sleep(10)' })).rejects.toMatchObject({ code: '57014' });
    expect(await hasty.isReachable()).toBe(true);
  });

  test('a transaction with a longer statement timeout lets its statements take longer', async () => {
    await using hasty = open({ statementTimeoutMs: 50 });
    const slow = hasty.transaction(
      (tx) => tx.query<{ slept: boolean }>({ text: 'select pg_sleep(0.2) is null as slept' }),
      {
        statementTimeoutMs: 5_000,
      },
    );
    await expect(slow).resolves.toEqual([{ slept: false }]);
    await expect(hasty.query({ text: 'select pg_sleep(10)' })).rejects.toMatchObject({ code: '57014' });
  });
});

describe('values', () => {
  const read = async (expression: string, values: readonly unknown[] = []) =>
    (await database.query<{ value: unknown }>({ text: `select ${expression} as value` }, values))[0]?.value;

  test.each([
    ['9223372036854775807::int8', 9223372036854775807n],
    ["'{1,null,-9223372036854775808}'::int8[]", [1n, null, -9223372036854775808n]],
    ['1.10::numeric', '1.10'],
    ["'{1.10,NaN}'::numeric[]", ['1.10', 'NaN']],
    ["'2026-02-28'::date", '2026-02-28'],
    ["'{2026-02-28}'::date[]", ['2026-02-28']],
    [`'{"a":  1}'::json`, '{"a":  1}'],
    [`'{"a":  1}'::jsonb`, '{"a": 1}'],
    ["'\\x00ff'::bytea", Buffer.from([0, 255])],
    ["'2026-01-02 03:04:05.678+00'::timestamptz", new Date('2026-01-02T03:04:05.678Z')],
    ["'2026-01-02 03:04:05+00'::timestamptz", new Date('2026-01-02T03:04:05Z')],
    ["'{2026-01-02 03:04:05.678+02:00,null}'::timestamptz[]", [new Date('2026-01-02T01:04:05.678Z'), null]],
    ["'9999-12-31 23:59:59-05:00'::timestamptz", new Date('+010000-01-01T04:59:59.000Z')],
    ["'{9999-12-31 23:59:59-05:00}'::timestamptz[]", [new Date('+010000-01-01T04:59:59.000Z')]],
    ["'0001-01-01 00:00:00 BC'::timestamptz", new Date('0000-01-01T00:00:00.000Z')],
    ['1.5::float8', 1.5],
    ["'{t,f,null}'::bool[]", [true, false, null]],
    ['null::int8', null],
  ])('the value %s is read exactly', async (expression, value) => {
    expect(await read(expression)).toEqual(value);
  });

  test.each([
    "'infinity'::timestamptz",
    "'-infinity'::timestamptz",
    "'294276-12-31 23:59:59+00'::timestamptz",
    "'{2026-01-02 03:04:05+00,infinity}'::timestamptz[]",
  ])('the instant %s, which no Date can hold, fails only its own query', async (expression) => {
    await expect(read(expression)).rejects.toThrow('a row cannot be read');
    expect(await read('1')).toBe(1);
  });

  test('every instant in the range of Date is read exactly', async () => {
    const since4713BC = fc.date({ min: new Date('-004000-01-01T00:00:00.000Z'), noInvalidDate: true });
    await fc.assert(
      fc.asyncProperty(since4713BC, async (instant) => {
        const text = 'select $1::timestamptz as value';
        expect(await database.query({ text }, [instant])).toEqual([{ value: instant }]);
      }),
      { numRuns: 60 },
    );
  });

  test('the last of several columns with one name is returned, even if it is null', async () => {
    const text = 'select 1 as same, null::int as same union all select null, 2';
    for (const statement of [{ text }, { name: 'same-columns', text }]) {
      expect(await database.query(statement)).toEqual([{ same: null }, { same: 2 }]);
    }
  });

  test('instants are read correctly in any time zone of the session', async () => {
    await database.transaction(async (tx) => {
      await tx.query({ text: `set local timezone = 'Asia/Kolkata'` });
      const instant = new Date('2026-01-02T03:04:05.678Z');
      expect(await tx.query({ text: 'select $1::timestamptz as value' }, [instant])).toEqual([{ value: instant }]);
    });
  });

  test.each([
    ['uuid', fc.uuid()],
    ['text', fc.string({ unit: 'binary' }).filter((text) => !text.includes('\0') && text.isWellFormed())],
    ['int8', fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n })],
    ['timestamptz', fc.date({ min: new Date('1900-01-01'), max: new Date('2200-01-01'), noInvalidDate: true })],
    ['bool', fc.boolean()],
    ['float8', fc.double({ noNaN: true }).map((value) => value + 0)],
    ['bytea', fc.uint8Array().map((bytes) => Buffer.from(bytes))],
  ] as [string, fc.Arbitrary<unknown>][])('arrays of %s are read as they were written', async (type, arbitrary) => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.option(arbitrary), { maxLength: 8 }), async (values) => {
        const text = `select array_agg(value order by position) as value from unnest($1::${type}[]) with ordinality as given (value, position)`;
        const [row] = await database.query<{ value: unknown[] | null }>({ text }, [values]);
        expect(row?.value ?? []).toEqual(values);
      }),
      { numRuns: 40 },
    );
  });
});

describe('errors', () => {
  test('errors are distinguished by their SQLSTATE and constraint', async () => {
    await database.write(INSERT, [1n, 1n], { durable: true });
    const twice = await failureOf(database.write(INSERT, [1n, 1n], { durable: true }));
    expect([isUniqueViolation(twice), isUniqueViolation(twice, 'things_pkey'), isUniqueViolation(twice, 'x')]).toEqual([
      true,
      true,
      false,
    ]);
    const negative = await failureOf(database.write(INSERT, [2n, -1n], { durable: true }));
    expect(negative).toMatchObject({ constraint: 'things_amount_positive' });
    expect([isUniqueViolation(negative), isConnectionFailure(negative)]).toEqual([false, false]);
  });

  test('errors have the stack of the caller', async () => {
    const asked = [
      database.query({ text: 'select 1 / 0' }),
      database.transaction((tx) => tx.query({ text: 'select 1 / 0' })),
    ];
    for (const error of await Promise.all(asked.map(failureOf))) {
      expect(error).toMatchObject({ stack: expect.stringContaining('database.test.ts') });
    }
  });

  test('a server error that ends the session is a connection failure', async () => {
    await using victim = open({ maxConnections: 1 });
    for (const durable of [true, false]) {
      const [row] = await victim.query<{ pid: number }>({ text: 'select pg_backend_pid() as pid' });
      const slow = failureOf(victim.transaction((tx) => tx.query({ text: 'select pg_sleep(10)' }), { durable }));
      await terminate(row?.pid);
      expect(isConnectionFailure(await slow)).toBe(true);
      expect(await victim.isReachable()).toBe(true);
    }
  });

  test('an error that ends the session counts as a connection failure with an unknown commit', async () => {
    await using victim = open({ maxConnections: 1 });
    const ended = victim.batch([
      { statement: { text: `select set_config('transaction_timeout', '20', true)` } },
      { statement: { text: 'select pg_sleep(10)' } },
    ]);
    expect(await failureOf(ended)).toBeInstanceOf(ConnectionFailedError);
    expect(await victim.query({ text: 'select 1 as one' })).toEqual([{ one: 1 }]);
  });

  test('a statement that waits for COPY input fails immediately', async () => {
    await using victim = open({ maxConnections: 1 });
    const copy = { name: 'copy', text: 'copy things from stdin' };
    for (const steps of [[copy], [copy, COUNT]]) {
      expect(await failureOf(victim.batch(steps.map((statement) => ({ statement }))))).toBeInstanceOf(
        ConnectionFailedError,
      );
      expect(await victim.query({ text: 'select 1 as one' })).toEqual([{ one: 1 }]);
    }
  });

  test('a session that ended while it was free does not affect the next call', async () => {
    await using victim = open({ maxConnections: 1 });
    const [row] = await victim.query<{ pid: number }>({ text: 'select pg_backend_pid() as pid' });
    await terminate(row?.pid);
    expect(await victim.query({ text: 'select 1 as one' })).toEqual([{ one: 1 }]);
  });

  test('an unreachable server is a connection failure', async () => {
    await using nowhere = createDatabase({
      url: 'postgresql://postgres@127.0.0.1:1/none',
      maxConnections: 1,
      applicationName: 'database-test',
    });
    expect(await nowhere.isReachable()).toBe(false);
    const error = await failureOf(nowhere.query({ text: 'select 1' }));
    expect(error).toBeInstanceOf(ConnectionFailedError);
    expect(isConnectionFailure(error)).toBe(true);
  });

  async function failureOf(work: Promise<unknown>): Promise<unknown> {
    return await work.then(
      () => undefined,
      (error: unknown) => error,
    );
  }

  /** Ends a session and waits until it is gone. */
  async function terminate(pid: number | undefined): Promise<void> {
    const text = 'select pg_terminate_backend($1, 5000) as ended';
    expect(await database.query({ text }, [pid])).toEqual([{ ended: true }]);
  }
});
