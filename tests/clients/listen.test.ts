/**
 * Runs `laurel listen` against a real stack and checks what the command delivers. No event is lost
 * when the command or the stack stops.
 */
import { randomUUID } from 'node:crypto';
import { signWebhook, verifyWebhook } from '@laurel/sdk';
import { Webhook as StandardWebhook } from 'standardwebhooks';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { playAttempt } from '../webhooks/play.ts';
import { eventually, expectError, expectStatus, type Program, startWorld, type World } from '../world.ts';
import { createLaurel, type Laurel } from './laurel.ts';
import { startWebhookReceiver, type WebhookReceiver } from './webhook-receiver.ts';

const SECRET = `whsec_${'0123456789abcdef'.repeat(4)}`;
const EVENTS = '/api/sandbox/events';

interface EventPage {
  readonly data: readonly {
    readonly id: string;
    readonly event: string;
    readonly body: string;
    readonly cursor: string;
  }[];
  readonly next_cursor: string;
}

let world: World;

beforeAll(async () => {
  world = await startWorld();
});
afterAll(() => world[Symbol.asyncDispose]());

/** A new program, and its developer's folder, server and settings for `laurel listen`. */
async function newDeveloperMachine() {
  await using cleanup = new AsyncDisposableStack();
  const program = await world.newProgram();
  const laurel = cleanup.use(await createLaurel());
  const receiver = cleanup.use(await startWebhookReceiver(SECRET));
  const settings = {
    LAUREL_BASE_URL: world.stack.baseUrl,
    LAUREL_API_KEY: program.test.apiKey,
    LAUREL_WEBHOOK_SECRET: SECRET,
  };
  const owned = cleanup.move();
  return { program, laurel, receiver, settings, [Symbol.asyncDispose]: () => owned.disposeAsync() };
}

const play = (program: Program, what?: 'settled' | 'refunded') =>
  playAttempt(world, { program }, { ...(what && { what }) });
const attemptsOf = ({ received }: WebhookReceiver) =>
  received.map(({ event }) => (event.event === 'attempt.settled' ? event.data.attempt_id : event.event));

/** The sandbox's events, oldest first. Throws unless their number is `count`. */
async function logged({ test }: Program, count: number) {
  await world.allAcknowledged();
  const { data } = expectStatus(200, await test.send<EventPage>('GET', `${EVENTS}?from=oldest`)).body;
  expect(data).toHaveLength(count);
  return data;
}

/** Starts `listen` and waits until it has stored its start: it delivers everything from now on. */
async function listening(laurel: Laurel, argv: readonly string[], settings: Record<string, string>) {
  const command = laurel.start(['listen', ...argv], settings);
  await eventually(async () => command.output().includes('Forwarding') || undefined, 'listen has begun');
  return command;
}

/** Starts `listen` and waits until it has delivered an event. */
async function begun({ laurel, receiver, settings, program }: Awaited<ReturnType<typeof newDeveloperMachine>>) {
  const command = await listening(laurel, ['--forward-to', receiver.url], settings);
  const first = await play(program);
  await eventually(async () => attemptsOf(receiver).includes(first) || undefined, 'the first event was delivered');
  return { command, first };
}

describe('laurel listen', () => {
  it('listen delivers each event of the sandbox as a webhook without any endpoint', async () => {
    await using machine = await newDeveloperMachine();
    const { program, laurel, receiver, settings } = machine;
    const command = await listening(laurel, ['--forward-to', receiver.url], settings);
    const first = await play(program);
    await playAttempt(world, { program }, { environment: 'live' });
    const refunded = await play(program, 'refunded');
    await eventually(async () => receiver.received.length === 2 || undefined, 'both events were delivered');

    const [settled, second] = receiver.received;
    expect(settled?.event).toMatchObject({ event: 'attempt.settled', data: { attempt_id: first, test: true } });
    expect(second?.event).toMatchObject({
      event: 'attempt.refunded',
      data: { attempt_id: refunded, reason: 'voided' },
    });
    for (const { headers, body, event, deliveryId } of receiver.received) {
      expect(headers).toMatchObject({ 'content-type': 'application/json', 'x-webhook-event': event.event });
      new StandardWebhook(SECRET).verify(body, headers as Record<string, string>);
      await eventually(
        async () => command.output().includes(`${event.event} ${deliveryId} 204 in `) || undefined,
        'its line',
      );
    }
    const { code, output } = await command.end('SIGTERM');
    expect(code).toBe(0);
    for (const hidden of [SECRET, program.test.apiKey]) expect(output).not.toContain(hidden);
  });

  it('a restart of a killed listen delivers every missed event', async () => {
    await using machine = await newDeveloperMachine();
    const { program, laurel, receiver, settings } = machine;
    const { command, first } = await begun(machine);
    receiver.answer(null);
    const inFlight = await play(program);
    await eventually(async () => attemptsOf(receiver).includes(inFlight) || undefined, 'it has sent the event');
    expect((await command.end('SIGKILL')).code).toBeNull();

    const missed: string[] = [];
    for (let count = 0; count < 5; count += 1) {
      missed.push(await play(program));
      // An event that occurs while no process listens survives a restart of the service too.
      if (count === 2) await world.stack.kill('webhook').then(() => world.stack.restart('webhook'));
    }
    await world.allAcknowledged();
    receiver.answer(204);
    const again = await listening(laurel, ['--forward-to', receiver.url], settings);
    await eventually(
      async () => missed.every((id) => attemptsOf(receiver).includes(id)) || undefined,
      'all were delivered',
    );
    const later = await play(program);
    await eventually(async () => attemptsOf(receiver).includes(later) || undefined, 'the next one was delivered');

    const expected = [first, inFlight, inFlight, ...missed, later];
    expect(attemptsOf(receiver).toSorted()).toEqual(expected.toSorted());
    const [sent, repeated] = receiver.received.filter(
      ({ event }) => event.event === 'attempt.settled' && event.data.attempt_id === inFlight,
    );
    expect([repeated?.dedupeKey, repeated?.deliveryId]).toEqual([sent?.dedupeKey, sent?.deliveryId]);
    expect(receiver.refusals).toEqual([]);
    expect((await again.end('SIGTERM')).code).toBe(0);
  });

  it.each([
    { from: 'now', skipped: 2 },
    { from: 'oldest', skipped: 0 },
    { from: 'CURSOR', skipped: 1 },
  ])(
    'listen --from $from delivers the first event after a restart if that event was not delivered before',
    async ({ from, skipped }) => {
      await using machine = await newDeveloperMachine();
      const { program, laurel, receiver, settings } = machine;
      const url = ['--forward-to', receiver.url];
      await play(program);
      await play(program);
      const [first] = await logged(program, 2);
      await receiver[Symbol.asyncDispose]();
      const position = from === 'CURSOR' ? (first?.cursor ?? '') : from;
      const command = await listening(laurel, [...url, '--from', position], settings);
      if (from !== 'now')
        await eventually(async () => command.output().includes('ECONNREFUSED') || undefined, 'it tried to deliver');
      expect((await command.end('SIGTERM')).code).toBe(0);
      await play(program);
      const expected = (await logged(program, 3)).slice(skipped).map(({ id }) => id);

      await using restarted = await startWebhookReceiver(SECRET, Number(new URL(receiver.url).port));
      const again = await listening(laurel, url, settings);
      await eventually(async () => restarted.received.length >= expected.length || undefined, 'all were delivered');
      expect(restarted.received.map(({ deliveryId }) => deliveryId)).toEqual(expected);
      expect((await again.end('SIGTERM')).code).toBe(0);
    },
  );

  it('listen stops in the middle of a page and delivers the rest after its next start', async () => {
    await using machine = await newDeveloperMachine();
    const { program, laurel, receiver, settings } = machine;
    const url = ['--forward-to', receiver.url];
    for (let count = 0; count < 3; count += 1) await play(program);
    const [first, ...others] = (await logged(program, 3)).map(({ id }) => id);
    receiver.answer(null);
    const command = await listening(laurel, [...url, '--from', 'oldest'], settings);
    await eventually(async () => receiver.received.length === 1 || undefined, 'it has sent the first event');
    const { code, output } = await command.end('SIGTERM');
    expect(code).toBe(0);
    expect(output.trimEnd().split('\n')).toEqual([expect.stringContaining('Forwarding')]);

    receiver.answer(204);
    const again = await listening(laurel, url, settings);
    await eventually(async () => receiver.received.length === 4 || undefined, 'all were delivered');
    expect(receiver.received.map(({ deliveryId }) => deliveryId)).toEqual([first, first, ...others]);
    expect((await again.end('SIGTERM')).code).toBe(0);
  });

  it('listen waits for an unreachable server', async () => {
    await using machine = await newDeveloperMachine();
    const { program, receiver } = machine;
    const { command, first } = await begun(machine);
    const port = Number(new URL(receiver.url).port);
    await receiver[Symbol.asyncDispose]();
    const waited = await play(program);
    await eventually(
      async () => command.output().includes('ECONNREFUSED') || undefined,
      'it found the server unreachable',
    );
    await using restarted = await startWebhookReceiver(SECRET, port);
    await eventually(async () => attemptsOf(restarted).includes(waited) || undefined, 'it was delivered afterwards');

    restarted.answer(500);
    const givenUp = await play(program);
    await eventually(
      async () => (command.output().includes('500 in ') && command.output().includes('given up')) || undefined,
      'it gave up',
    );
    restarted.answer(204);
    const next = await play(program);
    await eventually(async () => attemptsOf(restarted).includes(next) || undefined, 'the next one was delivered');
    expect(attemptsOf(restarted)).toEqual([waited, givenUp, givenUp, givenUp, next]);
    expect(first).not.toBe(waited);
    await command.end('SIGTERM');
  });

  it('listen forwards only the requested events', async () => {
    await using machine = await newDeveloperMachine();
    const { program, laurel, receiver, settings } = machine;
    const refunds = ['--forward-to', receiver.url, '--events', 'attempt.refunded'];
    const command = await listening(laurel, [...refunds, '--from', 'oldest'], settings);
    await play(program);
    await world.allAcknowledged();
    await play(program, 'refunded');
    // `listen` prints the line after the response. If it ended before that, it would deliver the
    // refund again.
    await eventually(async () => command.output().includes('204 in ') || undefined, 'the refund was delivered');
    await command.end('SIGTERM');
    const { start } = await laurel.readPosition();
    const every = ['--forward-to', receiver.url, '--cursor-file', 'every.json', '--from', start.after ?? ''];
    const unfiltered = await listening(laurel, every, settings);
    const last = await play(program);
    await eventually(async () => attemptsOf(receiver).includes(last) || undefined, 'the next event was delivered');
    expect(attemptsOf(receiver)).toEqual(['attempt.refunded', last]);
    await unfiltered.end('SIGTERM');
  });

  it('listen does not use the stored position of another receiver, filter, host or program', async () => {
    await using machine = await newDeveloperMachine();
    const { laurel, receiver, settings } = machine;
    const refunds = ['--forward-to', receiver.url, '--events', 'attempt.refunded,attempt.settled'];
    await (await listening(laurel, refunds, settings)).end('SIGTERM');
    const position = await laurel.readPosition();
    for (const from of [[], ['--from', 'now']]) {
      for (const [argv, host, sentence] of [
        [['--forward-to', `${receiver.url}/2`, ...refunds.slice(2)], {}, `a listen with --forward-to ${receiver.url}:`],
        [refunds.slice(0, 2), {}, 'a listen with --events attempt.refunded,attempt.settled:'],
        [[...refunds.slice(0, 3), 'attempt.refunded'], {}, 'a listen with --events attempt.refunded,attempt.settled:'],
        [refunds, { LAUREL_BASE_URL: 'http://127.0.0.1:1' }, `a listen to ${world.stack.baseUrl}:`],
      ] as const) {
        const refused = await laurel.run(['listen', ...argv, ...from], { ...settings, ...host });
        expect(refused).toMatchObject({
          code: 2,
          output: expect.stringContaining(`holds the position of ${sentence}`),
        });
        expect(refused.output).toContain('--cursor-file');
      }
    }
    const other = { ...settings, LAUREL_API_KEY: (await world.newProgram()).test.apiKey };
    const refused = await laurel.run(['listen', ...refunds], other);
    expect(refused).toMatchObject({ code: 1, output: expect.stringContaining('refused with 400') });
    expect(await laurel.readPosition()).toEqual(position);

    const reordered = ['--forward-to', receiver.url, '--events', 'attempt.settled, attempt.refunded'];
    expect((await (await listening(laurel, reordered, settings)).end('SIGTERM')).code).toBe(0);
  });

  it('a second listen command with the same file ends the first', async () => {
    await using machine = await newDeveloperMachine();
    const { program, laurel, receiver, settings } = machine;
    const url = ['--forward-to', receiver.url];
    const earlier = await listening(laurel, url, settings);
    const later = await listening(laurel, url, settings);
    const ended = await earlier.ended;
    expect(ended).toMatchObject({
      code: 2,
      output: expect.stringContaining('Another listen has begun with .laurel-listen'),
    });
    const id = await play(program);
    await eventually(async () => receiver.received.length > 0 || undefined, 'it was delivered');
    expect((await later.end('SIGKILL')).code).toBeNull();
    const last = await listening(laurel, url, settings);
    const next = await play(program);
    await eventually(async () => attemptsOf(receiver).includes(next) || undefined, 'the next one was delivered');
    expect([...new Set(attemptsOf(receiver))]).toEqual([id, next]);
    expect((await last.end('SIGTERM')).code).toBe(0);
  });

  it('listen refuses invalid arguments with an exit code and a message without secrets', async () => {
    await using machine = await newDeveloperMachine();
    const { laurel, receiver, settings, program } = machine;
    const to = ['listen', '--forward-to', receiver.url];
    const damaged = await laurel.save('damaged.json', '{"cursor":');
    // Creates an event that a valid command would forward. None of these commands may.
    await play(program);
    await world.allAcknowledged();
    for (const [argv, changes, code, sentence] of [
      [['listen'], {}, 2, '--forward-to'],
      [['listen', '--forward-to', 'http://user:pass@127.0.0.1/'], {}, 2, '--forward-to'],
      [[...to, '--events', 'attempt.won'], {}, 2, 'is not one of'],
      [[...to, '--nonsense'], {}, 2, 'usage: laurel listen'],
      [to, { LAUREL_WEBHOOK_SECRET: '' }, 2, 'LAUREL_WEBHOOK_SECRET'],
      [to, { LAUREL_BASE_URL: '' }, 2, 'LAUREL_BASE_URL'],
      [to, { LAUREL_API_KEY: program.live.apiKey }, 2, 'not a test key'],
      [to, { LAUREL_API_KEY: `sk_test_${'x'.repeat(40)}` }, 1, 'refused with 401'],
      [[...to, '--from', 'nonsense'], {}, 1, 'refused with 400'],
      [[...to, '--from', 'oldest', '--cursor-file', 'no/such/folder.json'], {}, 2, 'could not be written'],
      [[...to, '--from', 'oldest', '--cursor-file', '.'], {}, 2, 'could not be read'],
      [[...to, '--from', 'oldest', '--cursor-file', damaged], {}, 2, 'is damaged'],
    ] as const) {
      const ended = await laurel.run(argv, { ...settings, ...changes });
      expect({ argv, code: ended.code }).toEqual({ argv, code });
      expect(ended.output).toContain(sentence);
      for (const hidden of [SECRET, program.live.apiKey, program.test.apiKey])
        expect(ended.output).not.toContain(hidden);
    }
    expect(receiver.received).toEqual([]);
    await expect(laurel.readPosition()).rejects.toThrow('ENOENT');
  });
});

describe('GET /api/sandbox/events', () => {
  it('the list of sandbox events contains only the events of one program', async () => {
    const program = await world.newProgram();
    const list = (query: string, key = program.test) => key.send<EventPage>('GET', `${EVENTS}${query}`);
    const begin = expectStatus(200, await list('')).body;
    expect(begin.data).toEqual([]);
    const ids = [await play(program), await play(program), await play(program)];
    await world.allAcknowledged();
    const { data, next_cursor: end } = expectStatus(200, await list(`?after=${begin.next_cursor}`)).body;
    expect(data.map(({ body }) => JSON.parse(body).data.attempt_id).toSorted()).toEqual(ids.toSorted());
    expect(expectStatus(200, await list('?from=oldest&limit=2')).body.data).toEqual(data.slice(0, 2));
    expect(expectStatus(200, await list(`?after=${data[0]?.cursor}`)).body.data).toEqual(data.slice(1));
    expect(expectStatus(200, await list(`?after=${end}`)).body).toEqual({ data: [], next_cursor: end });
    expect(
      expectStatus(200, await list('?from=oldest', world.program.test)).body.data.map(({ id }) => id),
    ).not.toContain(data[0]?.id);
    for (const query of ['?after=nonsense', '?limit=0', '?limit=201', '?from=then', `?from=now&after=${end}`]) {
      expectError(400, 'invalid_request', await list(query));
    }
    expectError(400, 'invalid_request', await list(`?after=${end}`, world.program.test));
    expectError(401, 'unauthorized', await list('', program.live));
    expectError(401, 'unauthorized', await world.http.send('GET', EVENTS));
  });

  it('an event in the list of sandbox events has the same bytes as its webhook', async () => {
    const owner = await world.newDeveloper();
    const hook = await world.newReceiver(owner);
    const id = await play(owner.program);
    const { body } = await hook.event('attempt.settled', id);
    const page = await owner.program.test.send<EventPage>('GET', `${EVENTS}?from=oldest`);
    expect(page.body.data.map((event) => event.body)).toEqual([body.toString()]);
  });
});

describe('laurel verify-webhook and verify-receipt', () => {
  it('verify-webhook says why it refuses a signed body', async () => {
    await using laurel = await createLaurel();
    const body = '{"event":"webhook.test","timestamp":"2026-01-31T12:00:00.000Z","data":{"message":"Grüße"}}';
    const signature = await signWebhook(body, SECRET);
    const check = (input: string, given = signature, secret = SECRET) =>
      laurel.run(['verify-webhook', '--secret', secret, '--signature', given], {}, input);
    const { dedupeKey } = await verifyWebhook({
      body,
      headers: { 'x-webhook-signature': signature },
      secrets: [SECRET],
    });
    expect(await check(body)).toEqual({
      code: 0,
      output: `VALID: webhook.test of 2026-01-31T12:00:00.000Z\n  dedupeKey: ${dedupeKey}\n`,
    });
    for (const [ended, reason] of [
      [await check(body.replace('12', '13')), 'signature_mismatch'],
      [await check(body, signature, 'whsec_another'), 'signature_mismatch'],
      [await check(body, 'nonsense'), 'signature_malformed'],
      [await check('{', await signWebhook('{', SECRET)), 'body_malformed'],
    ] as const) {
      expect(ended).toMatchObject({ code: 1, output: expect.stringContaining(`NOT VALID (${reason})`) });
      expect(ended.output).not.toContain(SECRET);
    }
    expect((await check(`${body}\n`)).output).toContain('Without the newline at its end');
    expect((await laurel.run(['verify-webhook', '--secret', SECRET], {}, body)).code).toBe(2);
  });

  it('verify-receipt accepts a receipt of the service and refuses an altered one', async () => {
    await using laurel = await createLaurel();
    const challenge = await world.newChallenge();
    const player = await world.newPlayer();
    const attempt = expectStatus(
      201,
      await world.partner.createAttempt({ challenge_id: challenge.id, player_ref: player.ref }),
    );
    const outcome = expectStatus(200, await world.partner.reportOutcome(attempt.body.id, { score: 120 })).body;
    const receipt = expectStatus(200, await world.operator.getReceipt(outcome.receipt_id));
    const settings = { LAUREL_BASE_URL: `${world.stack.baseUrl}/v1` };
    const genuine = await laurel.save('receipt.json', receipt.text);
    expect(await laurel.run(['verify-receipt', genuine], settings)).toMatchObject({
      code: 0,
      output: expect.stringMatching(/^VALID: /),
    });
    const keys = ['--keys', `${world.stack.baseUrl}/.well-known/laurel-keys.json`];
    expect((await laurel.run(['verify-receipt', genuine, ...keys])).code).toBe(0);
    const altered = await laurel.save(
      'altered.json',
      JSON.stringify({ ...receipt.body, receipt: { ...receipt.body.receipt, score: 121 } }),
    );
    expect(await laurel.run(['verify-receipt', altered], settings)).toMatchObject({
      code: 1,
      output: expect.stringMatching(/^NOT VALID: /),
    });
    expect((await laurel.run(['verify-receipt', genuine])).code).toBe(2);
  });

  it('the laurel command prints its usage on request', async () => {
    await using laurel = await createLaurel();
    for (const argv of [['--help'], ['listen', '--help'], ['verify-webhook', '-h'], ['verify-receipt', '--help']]) {
      expect(await laurel.run(argv)).toMatchObject({ code: 0, output: expect.stringMatching(/^usage: laurel/) });
    }
    for (const argv of [[], ['login'], ['toString', randomUUID()]]) expect((await laurel.run(argv)).code).toBe(2);
  });
});
