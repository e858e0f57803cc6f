/** The delivery log as its developer reads it. */

import { refused } from '@laurel/errors';
import { Environment } from '@laurel/proto/common';
import { type Delivery, type DeliveryAttempt, DeliveryStatus } from '@laurel/proto/webhook';
import { expectAccepted } from '@laurel/testing';
import { TOP } from '@laurel/values/cursor';
import { newId } from '@laurel/values/ids';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Send } from '../domain/delivery.ts';
import { decideResult, ERROR_SENTENCES, type SendEnd } from '../domain/send-result.ts';
import { insertDelivery } from '../repository/deliveries.ts';
import { loadLogPage } from '../repository/delivery-log.ts';
import { leaseSends, recordSends } from '../repository/sends.ts';
import { useHarness } from '../webhook.fixture.ts';

const h = useHarness();

type Owner = Awaited<ReturnType<typeof h.createEndpoint>>;

const PHASES = { dnsMs: 1, connectMs: 2, waitMs: 3, readMs: 4 };
const DELAYS_MS = [60_000, 300_000] as const;
const ANSWERED: SendEnd = { kind: 'answer', status: 204, body: Buffer.alloc(0) };
const BUSY: SendEnd = { kind: 'answer', status: 503, body: Buffer.from('busy') };
const SILENT = { kind: 'failure', error: 'timeout', sentence: 'No answer came in time.' } as const satisfies SendEnd;

/** Inserts a delivery without waking the dispatcher, so it stays unsent until the test sends it. */
async function put(
  { endpoint }: Pick<Owner, 'endpoint'>,
  eventType = 'attempt.settled',
  on: Pick<typeof h.database, 'query'> = h.database,
): Promise<string> {
  const createdAt = h.clock();
  const id = newId(createdAt);
  await insertDelivery(on, {
    id,
    endpointId: endpoint.id,
    eventId: newId(),
    eventType,
    tenant: { programId: newId(), environment: 'live' },
    body: Buffer.from('{}'),
    resendOf: null,
    createdAt,
  });
  return id;
}

/** Leases what the endpoint has due. */
async function begin({ endpoint }: Owner): Promise<readonly Send[]> {
  const now = h.clock();
  const lease = { now, leasedUntil: new Date(now.getTime() + 10_000), keyVersions: [1] };
  return (await leaseSends(h.database, [{ endpointId: endpoint.id, environment: 'live', slots: 1 }], lease)).sends;
}

async function end(sends: readonly Send[], how: SendEnd): Promise<void> {
  const records = sends.map((send) => ({
    send,
    durationMs: 12.5,
    phases: PHASES,
    result: decideResult(how, send.number, h.clock(), DELAYS_MS),
  }));
  await recordSends(h.database, records);
}

async function send(owner: Owner, how: SendEnd): Promise<void> {
  await end(await begin(owner), how);
}

function attempt(number: number, rest: Partial<DeliveryAttempt>): DeliveryAttempt {
  return {
    number,
    startedAt: h.clock(),
    durationMs: undefined,
    httpStatus: undefined,
    errorKind: undefined,
    error: undefined,
    responseExcerpt: undefined,
    dnsMs: undefined,
    connectMs: undefined,
    waitMs: undefined,
    readMs: undefined,
    ...rest,
  };
}

/** The log entry of a send that `end` has recorded. */
function ended(number: number, rest: Partial<DeliveryAttempt>): DeliveryAttempt {
  return attempt(number, { durationMs: 12.5, ...PHASES, ...rest });
}

function ids(deliveries: readonly Delivery[]): readonly string[] {
  return deliveries.map(({ id }) => id);
}

function page(
  owner: Owner,
  rest: {
    limit?: number;
    cursor?: string;
    after?: string;
    event?: string;
    developerId?: string;
    status?: DeliveryStatus;
  },
) {
  const { developerId, endpoint } = owner;
  const all = {
    developerId,
    endpointId: endpoint.id,
    status: 0 as DeliveryStatus,
    event: '',
    limit: 50,
    cursor: '',
    after: '',
  };
  return h.webhook.listDeliveries({ ...all, ...rest });
}

describe('the delivery log of an endpoint', () => {
  it('the delivery log of a new endpoint is empty', async () => {
    expect(await page(await h.createEndpoint(), {})).toMatchObject({ deliveries: [], nextCursor: '' });
  });

  it('the delivery log shows a delivery from its first send to its last', async () => {
    const owner = await h.createEndpoint();
    const createdAt = h.clock();
    const id = await put(owner);
    const delivery: Delivery = {
      id,
      event: 'attempt.settled',
      status: DeliveryStatus.PENDING,
      createdAt,
      nextAttemptAt: createdAt,
      attempts: [],
    };
    expect(await h.deliveriesOf(owner)).toEqual([delivery]);

    const first = ended(1, {
      httpStatus: 503,
      errorKind: 'http_5xx',
      error: ERROR_SENTENCES.http_5xx,
      responseExcerpt: 'busy',
    });
    const nextAttemptAt = new Date(h.clock().getTime() + 60_000);
    await send(owner, BUSY);
    expect(await h.deliveriesOf(owner)).toEqual([{ ...delivery, nextAttemptAt, attempts: [first] }]);

    h.clock.advance(60_000);
    await begin(owner);
    const underWay = { ...delivery, nextAttemptAt: undefined, attempts: [first, attempt(2, {})] };
    expect(await h.deliveriesOf(owner)).toEqual([underWay]);

    const interrupted = attempt(2, { errorKind: 'interrupted', error: ERROR_SENTENCES.interrupted });
    h.clock.advance(60_000);
    await send(owner, ANSWERED);
    const third = ended(3, { httpStatus: 204, responseExcerpt: '' });
    expect(await h.deliveriesOf(owner)).toEqual([
      {
        ...delivery,
        status: DeliveryStatus.DELIVERED,
        nextAttemptAt: undefined,
        attempts: [first, interrupted, third],
      },
    ]);
  });

  it('the log of a delivery that was closed after a send shows why no second send follows', async () => {
    const owner = await h.createEndpoint();
    await put(owner);
    await send(owner, SILENT);
    const first = ended(1, { errorKind: 'timeout', error: SILENT.sentence });
    h.clock.advance(1_000);
    await h.webhook.updateEndpoint({ developerId: owner.developerId, endpointId: owner.endpoint.id, active: false });
    const [delivery] = await h.deliveriesOf(owner);
    expect(delivery?.status).toBe(DeliveryStatus.FAILED);
    expect(delivery?.attempts).toEqual([
      first,
      attempt(2, { errorKind: 'endpoint_off', error: ERROR_SENTENCES.endpoint_off }),
    ]);
  });

  it('the log of a delivery that was closed during the third send has no fourth entry', async () => {
    const owner = await h.createEndpoint();
    const id = await put(owner);
    for (const delayMs of DELAYS_MS) {
      await send(owner, SILENT);
      h.clock.advance(delayMs);
    }
    const third = await begin(owner);
    await h.webhook.updateEndpoint({ developerId: owner.developerId, endpointId: owner.endpoint.id, active: false });
    await end(third, SILENT);
    const [delivery] = await h.deliveriesOf(owner);
    expect(delivery).toMatchObject({ id, status: DeliveryStatus.FAILED });
    expect(delivery?.attempts.map(({ number, errorKind }) => [number, errorKind])).toEqual([
      [1, 'timeout'],
      [2, 'timeout'],
      [3, 'timeout'],
    ]);
  });

  it('the delivery log can be filtered by status, by event and by both', async () => {
    const owner = await h.createEndpoint();
    const delivered = await put(owner, 'round.settled');
    await send(owner, ANSWERED);
    h.clock.advance(1);
    const failed = await put(owner);
    for (const delayMs of DELAYS_MS) {
      await send(owner, SILENT);
      h.clock.advance(delayMs);
    }
    await send(owner, SILENT);
    const pending = await put(owner);
    const listed = async (status: DeliveryStatus, event = '') => ids(await h.deliveriesOf(owner, { status, event }));
    expect(await listed(DeliveryStatus.UNSPECIFIED)).toEqual([pending, failed, delivered]);
    expect(await listed(DeliveryStatus.PENDING)).toEqual([pending]);
    expect(await listed(DeliveryStatus.FAILED)).toEqual([failed]);
    expect(await listed(DeliveryStatus.DELIVERED)).toEqual([delivered]);
    expect(await listed(DeliveryStatus.UNSPECIFIED, 'attempt.settled')).toEqual([pending, failed]);
    expect(await listed(DeliveryStatus.FAILED, 'attempt.settled')).toEqual([failed]);
    expect(await listed(DeliveryStatus.FAILED, 'round.settled')).toEqual([]);
    expect(await listed(DeliveryStatus.UNSPECIFIED, 'no.such')).toEqual([]);
  });

  it('the delivery log is not_found for another developer', async () => {
    const owner = await h.createEndpoint();
    await put(owner);
    expect(await page(owner, { developerId: newId() })).toEqual(refused('not_found'));
  });
});

describe('one delivery by its id', () => {
  it('a delivery is read with its body, its tenant and the sends that the log lists', async () => {
    const owner = await h.createEndpoint();
    const id = await put(owner);
    await send(owner, BUSY);
    const found = expectAccepted(await h.webhook.getDelivery({ developerId: owner.developerId, deliveryId: id }));
    const [listed] = await h.deliveriesOf(owner);
    expect(found.delivery).toEqual(listed);
    expect(found.delivery?.attempts).toHaveLength(1);
    expect(found).toMatchObject({ endpointId: owner.endpoint.id, body: '{}', resendOf: undefined });
    expect(found.tenant?.environment).toBe(Environment.LIVE);

    const again = expectAccepted(await h.webhook.resendDelivery({ developerId: owner.developerId, deliveryId: id }));
    const resent = expectAccepted(
      await h.webhook.getDelivery({ developerId: owner.developerId, deliveryId: again.deliveryId }),
    );
    expect(resent).toMatchObject({ eventId: found.eventId, body: found.body, tenant: found.tenant, resendOf: id });
  });

  it('a test event has no tenant', async () => {
    const { developerId, endpoint } = await h.createEndpoint();
    const { deliveryId } = expectAccepted(await h.webhook.sendTest({ developerId, endpointId: endpoint.id }));
    const found = expectAccepted(await h.webhook.getDelivery({ developerId, deliveryId }));
    expect(found.tenant).toBeUndefined();
    expect(JSON.parse(found.body)).toMatchObject({ event: 'webhook.test' });
  });

  it('a delivery is not_found for another developer, and once its endpoint is deleted', async () => {
    const owner = await h.createEndpoint();
    const deliveryId = await put(owner);
    const { developerId, endpoint } = owner;
    for (const other of [newId(), (await h.createEndpoint()).developerId])
      expect(await h.webhook.getDelivery({ developerId: other, deliveryId })).toEqual(refused('not_found'));
    expect(await h.webhook.getDelivery({ developerId, deliveryId: newId() })).toEqual(refused('not_found'));
    await h.webhook.deleteEndpoint({ developerId, endpointId: endpoint.id });
    expect(await h.webhook.getDelivery({ developerId, deliveryId })).toEqual(refused('not_found'));
  });
});

describe('pages of the delivery log', () => {
  it('the pages of the delivery log together are the whole log, for any page size', async () => {
    const owner = await h.createEndpoint();
    await put(await h.createEndpoint());
    for (let count = 0; count < 23; count += 1) {
      await put(owner, count % 3 === 0 ? 'round.settled' : 'attempt.settled');
      if (count % 4 === 3) h.clock.advance(1);
    }
    const whole = await h.deliveriesOf(owner);
    expect(whole).toHaveLength(23);
    const sorted = whole.toSorted(
      (a, b) => (b.createdAt?.getTime() ?? 0) - (a.createdAt?.getTime() ?? 0) || (a.id < b.id ? 1 : -1),
    );
    expect(whole).toEqual(sorted);
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 1, max: 25 }), fc.constantFrom('', 'round.settled'), async (limit, event) => {
        const expected = event === '' ? whole : whole.filter((delivery) => delivery.event === event);
        expect(await h.deliveriesOf(owner, { limit, event })).toEqual(expected);
      }),
      { numRuns: 30 },
    );
  });

  it('pages of the delivery log do not shift when new deliveries are added', async () => {
    const owner = await h.createEndpoint();
    for (let count = 0; count < 4; count += 1) {
      await put(owner);
      h.clock.advance(1);
    }
    const before = ids(await h.deliveriesOf(owner));
    const first = await page(owner, { limit: 2 });
    if ('kind' in first) throw new Error('refused');
    await put(owner);
    const second = await page(owner, { limit: 2, cursor: first.nextCursor });
    if ('kind' in second) throw new Error('refused');
    expect([...ids(first.deliveries), ...ids(second.deliveries)]).toEqual(before);
    expect(second.nextCursor).toBe('');
  });

  it('the delivery log refuses every cursor that is not valid', async () => {
    const owner = await h.createEndpoint();
    const encoded = ['["a","b"]', '{"createdAt":"now","id":1}'].map((text) => Buffer.from(text).toString('base64url'));
    for (const cursor of ['x', 'nonsense', 'AAAA', newId(), 'a'.repeat(256), ...encoded])
      expect(await page(owner, { cursor })).toEqual(refused('invalid_request', 'The cursor is not valid.'));
  });
});

describe('the tail of the delivery log', () => {
  const head = async (owner: Owner) => expectAccepted(await page(owner, {})).headCursor;

  it('a reader of the tail gets each delivery once, in whichever order transactions commit', async () => {
    const step = fc.oneof(
      fc.record({ kind: fc.constant('begin' as const), deliveries: fc.integer({ min: 1, max: 3 }) }),
      fc.record({ kind: fc.constant('commit' as const), which: fc.nat() }),
      fc.record({ kind: fc.constant('read' as const), limit: fc.integer({ min: 1, max: 4 }) }),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 25 }), async (steps) => {
        const owner = await h.createEndpoint();
        const before = await put(owner);
        const open: { readonly end: () => void; readonly ended: Promise<void> }[] = [];
        const inserted: string[] = [];
        const read: string[] = [];
        let after = await head(owner);
        const readPage = async (limit: number) => {
          const found = expectAccepted(await page(owner, { after, limit }));
          after = found.headCursor;
          read.push(...ids(found.deliveries));
          return found.deliveries.length;
        };
        const commit = async (which: number) => {
          const [transaction] = open.splice(which % open.length, 1);
          transaction?.end();
          await transaction?.ended;
        };
        for (const taken of steps) {
          if (taken.kind === 'read') await readPage(taken.limit);
          else if (taken.kind === 'commit') await (open.length > 0 ? commit(taken.which) : undefined);
          else if (open.length < 4) {
            const [written, gate] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
            const ended = h.database.transaction(async (tx) => {
              for (let count = 0; count < taken.deliveries; count += 1) inserted.push(await put(owner, undefined, tx));
              written.resolve();
              await gate.promise;
            });
            await written.promise;
            open.push({ end: gate.resolve, ended });
          }
        }
        while (open.length > 0) await commit(0);
        // One empty page is not the end: it may end at an older snapshot, with newer deliveries
        // after it.
        for (let empty = 0; empty < 2; ) empty = (await readPage(2)) === 0 ? empty + 1 : 0;
        expect(read.toSorted()).toEqual(inserted.toSorted());
        expect(read).not.toContain(before);
      }),
      { numRuns: 25 },
    );
  });

  it('the tail is read oldest first, page by page, with the filters of the log', async () => {
    const owner = await h.createEndpoint();
    const start = await head(owner);
    const added: string[] = [];
    for (let count = 0; count < 5; count += 1)
      added.push(await put(owner, count === 2 ? 'round.settled' : 'attempt.settled'));
    await put(await h.createEndpoint());
    const first = expectAccepted(await page(owner, { after: start, limit: 3 }));
    const second = expectAccepted(await page(owner, { after: first.headCursor, limit: 3 }));
    const third = expectAccepted(await page(owner, { after: second.headCursor, limit: 3 }));
    expect([first, second, third].map(({ deliveries }) => ids(deliveries))).toEqual([
      added.slice(0, 3),
      added.slice(3),
      [],
    ]);
    expect([first, second, third].map(({ nextCursor }) => nextCursor)).toEqual(['', '', '']);
    const rounds = expectAccepted(await page(owner, { after: start, event: 'round.settled' }));
    expect(ids(rounds.deliveries)).toEqual([added[2]]);
    const last = await put(owner);
    expect(ids(expectAccepted(await page(owner, { after: third.headCursor })).deliveries)).toEqual([last]);
    expect(ids(expectAccepted(await page(owner, { after: rounds.headCursor })).deliveries)).toEqual([last]);
  });

  it('only the first page of the log has a head cursor', async () => {
    const owner = await h.createEndpoint();
    for (let count = 0; count < 3; count += 1) await put(owner);
    const first = expectAccepted(await page(owner, { limit: 2 }));
    expect(first.headCursor).not.toBe('');
    expect(expectAccepted(await page(owner, { limit: 2, cursor: first.nextCursor })).headCursor).toBe('');
  });

  it('the tail refuses invalid cursors and other developers', async () => {
    const owner = await h.createEndpoint();
    await put(owner);
    const good = await head(owner);
    const { nextCursor } = expectAccepted(await page({ ...owner }, { limit: 1 }));
    const bad = [
      ['', '', '1', newId()],
      ['10', '', '1', newId()],
      ['10:5:', '', '1', newId()],
      ['10:20:25', '', '1', newId()],
      ['10:20:15,12', '', '1', newId()],
      ['10:20:,', '', '1', newId()],
      ['10:20:', 'x', '1', newId()],
      ['10:20:', '', '-1', newId()],
      ['10:20:', '', '1', 'x'],
      ['10:99999999999999999999:', '', '1', newId()],
    ].map((parts) => Buffer.from(JSON.stringify(parts)).toString('base64url'));
    for (const after of ['x', nextCursor === '' ? newId() : nextCursor, ...bad])
      expect(await page(owner, { after })).toEqual(refused('invalid_request', 'The cursor is not valid.'));
    expect(await page(owner, { after: good, cursor: good })).toEqual(
      refused('invalid_request', 'The cursor is not valid.'),
    );
    expect(await page(owner, { after: good, developerId: newId() })).toEqual(refused('not_found'));
  });
});

it('a send that ends while a page of the log is read is listed once', async () => {
  const owner = await h.createEndpoint();
  await put(owner);
  const sends = await begin(owner);
  let isOver = false;
  const meanwhile: Pick<typeof h.database, 'query'> = {
    query: async <Row>(...statement: Parameters<typeof h.database.query>) => {
      const rows = await h.database.query<Row>(...statement);
      if (!isOver) await end(sends, BUSY);
      isOver = true;
      return rows;
    },
  };
  const [delivery, ...others] = (await pageOf(owner, meanwhile))?.deliveries ?? [];
  expect(others).toEqual([]);
  expect([...(delivery?.sends ?? []), delivery?.sending]).toEqual([{ number: 1, startedAt: h.clock() }]);
  expect(isOver).toBe(true);
});

it('a page of the delivery log takes one statement, however many deliveries and sends it has', async () => {
  const owner = await h.createEndpoint();
  for (let count = 0; count < 12; count += 1) await put(owner);
  for (let count = 0; count < 12; count += 1) await send(owner, ANSWERED);
  let statements = 0;
  const counting: Pick<typeof h.database, 'query'> = {
    query: (statement, values) => {
      statements += 1;
      return h.database.query(statement, values);
    },
  };
  const found = (await pageOf(owner, counting))?.deliveries;
  expect(found).toHaveLength(12);
  expect(found?.every(({ sends }) => sends.length === 1)).toBe(true);
  expect(statements).toBe(1);
});

function pageOf({ developerId, endpoint }: Owner, on: Pick<typeof h.database, 'query'>) {
  const owner = { developerId, endpointId: endpoint.id };
  return loadLogPage(on, owner, { status: null, eventType: null }, { after: TOP, limit: 50 });
}
