import { createCoalescer } from '@laurel/coalesce';
import type { Outcome } from '@laurel/sdk';
import { inSpan, startTracing, tracer } from '@laurel/telemetry';
import { type Answer, type CollectedSpan, type Collector, SERVICES, startCollector } from '@laurel/testing';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { expectStatus, type Player, startWorld, type World } from '../world.ts';

const OWN_TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';
const CREATE_ATTEMPTS = 'laurel.attempts.v1.AttemptService/CreateAttempts';
const REPORT_OUTCOMES = 'laurel.attempts.v1.AttemptService/ReportOutcomes';
const CHARGE_FEES = 'laurel.wallet.v1.WalletService/ChargeFees';
const PAY_AWARDS = 'laurel.wallet.v1.WalletService/PayAwards';

describe('the traces of requests through a stack', () => {
  let collector: Collector;
  let world: World;
  let player: Player;
  let created: Answer<{ readonly id: string }>;
  let reported: Answer<Outcome>;
  let read: Answer<unknown>;
  let refused: Answer<unknown>;
  let concurrent: readonly Answer<unknown>[];

  beforeAll(async () => {
    collector = await startCollector();
    const environment = { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url };
    world = await startWorld({ environment: Object.fromEntries(SERVICES.map((service) => [service, environment])) });
    const { partner, stack } = world;
    const challenge = await world.newChallenge();
    player = await world.newPlayer();
    const creation = { challenge_id: challenge.id, player_ref: player.ref };

    created = expectStatus(201, await partner.createAttempt({ ...creation, metadata: { note: 'metadata-word' } }));
    read = expectStatus(200, await partner.getAttempt(created.body.id));
    concurrent = await Promise.all(Array.from({ length: 20 }, () => partner.createAttempt(creation)));
    const evidence = { note: 'evidence-word' };
    reported = expectStatus(200, await partner.reportOutcome(created.body.id, { score: 100, evidence }));
    const headers = { 'idempotency-key': 'key-word', traceparent: `00-${OWN_TRACE}-00f067aa0ba902b7-01` };
    refused = await partner.send('POST', '/v1/attempts', {
      raw: JSON.stringify({ ...creation, player_ref: 'x' }),
      headers,
    });
    // The services export their remaining spans when they stop.
    for (const service of ['gateway', 'challenge', 'wallet'] as const) expect(await stack.stop(service)).toBe(0);
  });
  afterAll(async () => {
    await world?.[Symbol.asyncDispose]();
    await collector?.[Symbol.asyncDispose]();
  });

  const rootOf = ({ headers }: Answer<unknown>): CollectedSpan => {
    const root = collector.spans.find((span) => span.attributes['laurel.request_id'] === headers['x-request-id']);
    return root ?? expect.fail('the request has no trace');
  };
  const traceOf = ({ traceId }: CollectedSpan) => collector.spans.filter((span) => span.traceId === traceId);
  const labelOf = ({ service, name, attributes }: CollectedSpan) =>
    `${service}: ${attributes['db.system.name'] ?? name}`;
  /** The span's ancestors, from the root of its trace to the span. */
  const pathTo = (span: CollectedSpan): string[] => {
    const parent = collector.spans.find(({ spanId }) => spanId === span.parentSpanId);
    return [...(parent === undefined ? [] : pathTo(parent)), labelOf(span)];
  };
  const pathsOf = (answer: Answer<unknown>) => traceOf(rootOf(answer)).map(pathTo);

  test('traces start at the gateway with the route, the status and the request id', () => {
    expect(rootOf(created)).toMatchObject({ service: 'gateway', name: 'POST /v1/attempts', parentSpanId: '' });
    expect(rootOf(created).attributes).toEqual({
      'http.request.method': 'POST',
      'http.route': '/v1/attempts',
      'http.response.status_code': 201,
      'laurel.request_id': created.headers['x-request-id'],
      'laurel.program_id': world.program.id,
    });
    expect(rootOf(refused)).toMatchObject({
      isFailed: false,
      attributes: { 'http.response.status_code': 402, 'laurel.error_code': 'insufficient_funds' },
    });
  });

  test('traces follow a paid attempt through every batch to each database', () => {
    const paths = pathsOf(created);
    const toChallenge = [
      'gateway: POST /v1/attempts',
      'gateway: await challenge.create_attempts',
      'gateway: run challenge.create_attempts',
      `gateway: ${CREATE_ATTEMPTS}`,
      `challenge: ${CREATE_ATTEMPTS}`,
    ];
    const toWallet = [
      ...toChallenge,
      'challenge: await wallet.charge_fees',
      'challenge: run wallet.charge_fees',
      `challenge: ${CHARGE_FEES}`,
      `wallet: ${CHARGE_FEES}`,
    ];
    expect(paths).toContainEqual([
      'gateway: POST /v1/attempts',
      expect.stringMatching(/^gateway: await gateway\.admission/),
      expect.stringMatching(/^gateway: run gateway\.admission/),
      'gateway: postgresql',
    ]);
    expect(paths).toContainEqual([
      ...toChallenge,
      'challenge: await create-attempts',
      'challenge: run create-attempts',
      'challenge: postgresql',
    ]);
    expect(paths).toContainEqual([
      ...toWallet,
      'wallet: await charge_fees',
      'wallet: run charge_fees',
      'wallet: postgresql',
    ]);
  });

  test('traces follow a win to its prize', () => {
    const paths = pathsOf(reported);
    expect(paths).toContainEqual([
      'gateway: POST /v1/attempts/{attempt_id}/outcome',
      'gateway: await challenge.report_outcomes',
      'gateway: run challenge.report_outcomes',
      `gateway: ${REPORT_OUTCOMES}`,
      `challenge: ${REPORT_OUTCOMES}`,
      'challenge: await wallet.pay_awards',
      'challenge: run wallet.pay_awards',
      `challenge: ${PAY_AWARDS}`,
      `wallet: ${PAY_AWARDS}`,
      'wallet: await pay_awards',
      'wallet: run pay_awards',
      'wallet: postgresql',
    ]);
    const get = 'laurel.attempts.v1.AttemptService/GetAttempt';
    expect(pathsOf(read)).toContainEqual([
      'gateway: GET /v1/attempts/{attempt_id}',
      `gateway: ${get}`,
      `challenge: ${get}`,
      'challenge: postgresql',
    ]);
  });

  test('traces lead from each of many requests to the batch that served it', () => {
    const served = concurrent.map((answer) => {
      const wait = traceOf(rootOf(answer)).find(({ name }) => name === 'await challenge.create_attempts');
      const batch = collector.spans.find(
        ({ name, spanId, parentSpanId }) =>
          name === 'run challenge.create_attempts' && (parentSpanId === wait?.spanId || wait?.links.includes(spanId)),
      );
      expect(batch?.links).toContain(wait?.spanId);
      return batch?.spanId;
    });
    expect(served).toHaveLength(20);
    expect(new Set(served).size).toBeLessThan(20);
  });

  test('traces contain no secret', () => {
    const sent = collector.bodies.join();
    expect(sent).toContain('laurel.request_id');
    const secrets = [player.ref, player.email, world.stack.operatorToken, 'metadata-word', 'evidence-word', 'key-word'];
    for (const secret of [...secrets, OWN_TRACE]) expect(sent).not.toContain(secret);
    expect(sent).not.toMatch(/sk_(?:test|live)_|whsec_/);
  });
});

describe('the trace of a batch', () => {
  const doubled = createCoalescer<number, number>({
    name: 'doubled',
    isolate: false,
    run: async (items) => {
      if (items.includes(0)) throw new TypeError('the text of an error');
      return items.map((item) => 2 * item);
    },
  });

  test('a batch’s span is linked to all of its callers', async () => {
    await using collector = await startCollector();
    const tracing = await startTracing({
      serviceName: 'test',
      url: `${collector.url}/v1/traces`,
      sampler: 'always_on',
      ratio: 1,
      onError: (error) => expect.fail(error),
    });
    const submit = (name: string, items: readonly number[]) =>
      inSpan(tracer?.begin(name), () => Promise.all(items.map((item) => doubled.submit(item))));
    const [first, second, untraced] = await Promise.all([
      submit('first', [1, 2]),
      submit('second', [3]),
      doubled.submit(4),
    ]);
    expect([first, second, untraced]).toEqual([[2, 4], [6], 8]);
    await expect(submit('third', [0])).rejects.toThrow(TypeError);
    await doubled.submit(5);
    await tracing[Symbol.asyncDispose]();
    await doubled.submit(6);

    const { spans } = collector;
    const root = (name: string) => spans.find((span) => span.name === name);
    const inside = (parent: CollectedSpan | undefined) => spans.filter((span) => span.parentSpanId === parent?.spanId);
    const [ofFirst, ofSecond, ofThird] = ['first', 'second', 'third'].map((name) => inside(root(name))[0]);
    const [batch] = inside(ofFirst);
    expect(spans).toHaveLength(8);
    expect(batch).toMatchObject({ name: 'run doubled', links: [ofFirst?.spanId, ofSecond?.spanId] });
    expect(batch?.attributes).toEqual({ 'laurel.items': 4 });
    expect(ofFirst).toMatchObject({ name: 'await doubled', links: [], attributes: { 'laurel.items': 2 } });
    expect(ofSecond).toMatchObject({ name: 'await doubled', links: [batch?.spanId], traceId: root('second')?.traceId });
    for (const failed of [root('third'), ofThird, inside(ofThird)[0]]) {
      expect(failed).toMatchObject({ isFailed: true, attributes: { 'error.type': 'TypeError' } });
    }
    expect(collector.bodies.join()).not.toContain('the text of an error');
  });

  test('a batch has no span if the sampler drops the trace', async () => {
    await using collector = await startCollector();
    const tracing = await startTracing({
      serviceName: 'test',
      url: `${collector.url}/v1/traces`,
      sampler: 'parentbased_traceidratio',
      ratio: 0,
      onError: (error) => expect.fail(error),
    });
    expect(tracer?.begin('request')).toBeUndefined();
    expect(await doubled.submit(1)).toBe(2);
    await tracing[Symbol.asyncDispose]();
    expect(tracer).toBeUndefined();
    expect(collector.bodies).toEqual([]);
  });
});
