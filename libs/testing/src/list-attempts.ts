/**
 * Tests, for both contest services, the list of attempts and the history of an attempt that
 * developers and operators read.
 */
import type { Refused } from '@laurel/errors';
import type {
  Attempt,
  DescribeAttemptResponse,
  ListAttemptsRequest,
  ListAttemptsResponse,
  LookUpIdResponse,
} from '@laurel/proto/attempts';
import { AttemptStatus } from '@laurel/proto/attempts';
import { Environment, ItemKind } from '@laurel/proto/common';
import { ATTEMPT_FACTS, nameOf } from '@laurel/proto/enum-names';
import { newId, newOwnedId } from '@laurel/values/ids';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { createAttemptInspector, type InspectedContest } from './inspect-attempt.ts';
import { expectAccepted } from './wallet.ts';

type Service = ReturnType<InspectedContest<Attempt>['service']> & {
  listAttempts(request: ListAttemptsRequest): Promise<ListAttemptsResponse | Refused>;
  describeAttempt(request: {
    readonly programId: string;
    readonly attemptId: string;
    readonly anyProgram: boolean;
  }): Promise<DescribeAttemptResponse | Refused>;
  lookUpId(request: { readonly id: string }): Promise<LookUpIdResponse | Refused>;
};

export type ListedContest = Omit<InspectedContest<Attempt>, 'service'> & {
  service(): Service;
  /**
   * SQL that inserts refused attempts with the ids $2, created at $3, into the contest of the
   * attempt $1.
   */
  readonly insertRefused: string;
};

export type AttemptList = {
  list(request?: Partial<ListAttemptsRequest>): Promise<ListAttemptsResponse>;
  /** Returns the ids of all pages, newest first. */
  listAll(request?: Partial<ListAttemptsRequest>): Promise<readonly string[]>;
  /** Follows new attempts from the position until a page is empty. Returns their ids. */
  follow(
    position: ListAttemptsResponse['head'],
    request?: Partial<ListAttemptsRequest>,
  ): Promise<{ readonly ids: readonly string[]; readonly position: ListAttemptsResponse['head'] }>;
};

/** Longer than SETTLE_MS, the longest time from the decision of a creation to its commit. */
const SETTLED_MS = 2_100;

const idsOf = ({ attempts }: ListAttemptsResponse) => attempts.map(({ attempt }) => attempt?.id ?? '');

export function createAttemptList({ tenant, service }: Pick<ListedContest, 'tenant' | 'service'>): AttemptList {
  const all = {
    contestId: '',
    playerRef: '',
    status: AttemptStatus.UNSPECIFIED,
    from: undefined,
    limit: 50,
    accountId: '',
    programIds: [],
  };
  const list = async (request: Partial<ListAttemptsRequest> = {}) =>
    expectAccepted(await service().listAttempts({ tenant, ...all, ...request }));
  return {
    list,
    async listAll(request) {
      const ids: string[] = [];
      for (let from: ListAttemptsRequest['from']; ; ) {
        const page = await list({ ...request, from });
        ids.push(...idsOf(page));
        if (page.readTo === undefined) return ids;
        from = { $case: 'before', value: page.readTo };
      }
    },
    async follow(position, request) {
      const ids: string[] = [];
      for (let readTo = position; readTo !== undefined; ) {
        const page: ListAttemptsResponse = await list({ ...request, from: { $case: 'after', value: readTo } });
        ids.push(...idsOf(page));
        readTo = page.readTo;
        if (page.attempts.length === 0) return { ids, position: readTo };
      }
      throw new Error('a list of new attempts ended');
    },
  };
}

/**
 * Creates ten attempts of two players in four statuses, among many attempts that are never visible.
 */
async function createMany(tested: ListedContest): Promise<readonly Attempt[]> {
  const { harness: h, tenant } = tested;
  const [one, other] = [await tested.openAttempt(), await tested.openAttempt()];
  const attempts = [one.attempt, other.attempt];
  for (let index = 0; index < 4; index += 1) {
    h.clock.advance(index % 2);
    attempts.push(await one.again(), await other.again());
  }
  const [settled, expired, voided] = attempts;
  if (settled === undefined || expired === undefined || voided === undefined) throw new Error('too few attempts');
  await tested.reportOutcome(settled.id);
  expectAccepted(await tested.service().expireAttempt({ tenant, attemptId: expired.id }));
  expectAccepted(await tested.service().voidAttempt({ attemptId: voided.id, reason: 'a test' }));
  await h.server.sweepOnce();
  for (const at of [h.clock(), new Date(h.clock().getTime() - 1)]) {
    const ids = Array.from({ length: 2_500 }, () => newOwnedId(tested.contestService, at));
    await h.database.query({ text: tested.insertRefused }, [one.attempt.id, ids, at]);
  }
  const shown = await Promise.all(
    attempts.map(async ({ id }) => expectAccepted(await tested.service().inspectAttempt({ attemptId: id })).attempt),
  );
  h.clock.advance(SETTLED_MS);
  const keyOf = ({ createdAt, id }: Attempt) => `${createdAt?.toISOString()} ${id}`;
  return shown
    .flatMap((attempt) => (attempt === undefined ? [] : [attempt]))
    .sort((a, b) => (keyOf(a) < keyOf(b) ? 1 : -1));
}

/** The tests that hold for both contest services. */
export function itListsAttempts(tested: ListedContest): void {
  const { harness: h, tenant } = tested;
  const { list, listAll, follow } = createAttemptList(tested);
  it('the pages of a list contain every matching attempt of the tenant once, newest first', async () => {
    const before = (await list()).head;
    const attempts = await createMany(tested);
    const [first] = attempts;
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 7 }),
        fc.constantFrom(...Object.values(AttemptStatus).filter((it) => typeof it === 'number' && it >= 0)),
        fc.boolean(),
        fc.boolean(),
        async (limit, status, isOfPlayer, isAtContest) => {
          const playerRef = isOfPlayer ? (first?.playerRef ?? '') : '';
          const contestId = isAtContest ? (first?.contestId ?? '') : '';
          const left = attempts.filter(
            (it) =>
              (status === AttemptStatus.UNSPECIFIED || it.status === status) &&
              (playerRef === '' || it.playerRef === playerRef) &&
              (contestId === '' || it.contestId === contestId),
          );
          const filter = { limit, status: status as AttemptStatus, playerRef, contestId };
          const known = new Set(attempts.map(({ id }) => id));
          const listed = (await listAll(filter)).filter((id) => known.has(id));
          expect(listed).toEqual(left.map(({ id }) => id));
          const followed = await follow(before, filter);
          expect(followed.ids).toEqual(left.map(({ id }) => id).reverse());
        },
      ),
      { numRuns: 12 },
    );
    const listed = (await list({ limit: 200 })).attempts.map(({ attempt }) => attempt);
    expect(listed.slice(0, attempts.length)).toEqual(attempts.map((attempt) => ({ ...attempt, metadataJson: '' })));
    for (const other of [
      { programId: newId(), environment: tenant.environment },
      { programId: tenant.programId, environment: Environment.LIVE },
    ])
      expect(await listAll({ tenant: other })).toEqual([]);
  });

  it('the pages of an account contain every matching attempt of the account once', async () => {
    const attempts = await createMany(tested);
    const { accountId } = await list({ limit: 1 }).then(({ attempts: [first] }) => first ?? expect.fail('no attempt'));
    const refs = new Set(attempts.map(({ playerRef }) => playerRef));
    expect(refs.size).toBe(2);
    const own = attempts.filter(({ playerRef }) => playerRef === attempts[0]?.playerRef);
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 4 }),
        fc.constantFrom(...Object.values(AttemptStatus).filter((it) => typeof it === 'number' && it >= 0)),
        fc.constantFrom(undefined, tenant),
        fc.boolean(),
        async (limit, status, ofTenant, isAtContest) => {
          const contestId = isAtContest ? (own[0]?.contestId ?? '') : '';
          const filter = { accountId, limit, status: status as AttemptStatus, tenant: ofTenant, contestId };
          const left = own.filter((it) => status === AttemptStatus.UNSPECIFIED || it.status === status);
          expect(await listAll(filter)).toEqual(left.map(({ id }) => id));
        },
      ),
      { numRuns: 12 },
    );
    const { attempts: shown, head } = await list({ accountId, tenant: undefined });
    expect(shown.map((it) => it.attempt)).toEqual(own.map((attempt) => ({ ...attempt, metadataJson: '' })));
    for (const it of shown) expect(it).toMatchObject({ accountId, tenant });
    for (const other of [
      { accountId: newId() },
      { accountId, contestId: newId() },
      { accountId, tenant: { programId: newId(), environment: tenant.environment } },
      { accountId, tenant: { programId: tenant.programId, environment: Environment.LIVE } },
    ])
      expect(await listAll(other)).toEqual([]);
    if (head === undefined) throw new Error('a list from the head lacks its head');
    await expect(list({ accountId, from: { $case: 'after', value: head } })).rejects.toThrow();
  });

  it('a list that follows new attempts contains an attempt only once concurrent creations must have ended', async () => {
    const { again } = await tested.openAttempt();
    h.clock.advance(SETTLED_MS);
    const { head } = await list();
    expect((await follow(head)).ids).toEqual([]);
    const first = await again();
    h.clock.advance(1);
    const second = await again(newOwnedId(tested.contestService, new Date(h.clock().getTime() - 3_600_000)));
    const early = await follow(head);
    expect(early.ids).toEqual([]);
    expect(await listAll()).not.toContain(first.id);
    h.clock.advance(SETTLED_MS);
    const late = await follow(early.position, { limit: 1 });
    expect(late.ids).toEqual([first.id, second.id]);
    expect((await follow(late.position)).ids).toEqual([]);
    expect((await listAll()).slice(0, 2)).toEqual([second.id, first.id]);
  });

  it('a list that follows new attempts waits for an attempt whose fee is not decided', async () => {
    h.clock.advance(SETTLED_MS);
    const { head } = await list();
    const { attemptId, again } = await tested.pendingAttempt();
    h.clock.advance(10);
    const later = await again();
    h.clock.advance(SETTLED_MS);
    const newest = await list();
    const waiting = await follow(head);
    expect([...idsOf(newest), ...waiting.ids]).not.toContain(later.id);
    expect(waiting.ids).not.toContain(attemptId);
    await again(attemptId);
    for (const from of [waiting.position, newest.head]) {
      const followed = (await follow(from)).ids;
      expect(followed.slice(-2)).toEqual([attemptId, later.id]);
    }
    await h.server.sweepOnce();
  });
}

/** Tests the look-up of an id, as `itListsAttempts` tests lists. */
export function itLooksUpIds(tested: ListedContest): void {
  const { harness: h, tenant } = tested;
  const lookUp = async (id: string) => expectAccepted(await tested.service().lookUpId({ id })).items;

  it('an operator finds an attempt or a contest by its id or its receipt’s id', async () => {
    const { attempt, player, again } = await tested.openAttempt();
    await tested.reportOutcome(attempt.id);
    const { attempt: settled } = expectAccepted(await tested.service().inspectAttempt({ attemptId: attempt.id }));
    const ofAttempt = { attemptId: attempt.id, accountId: player.accountId, tenant };
    const summary = `settled, player ${player.ref}`;
    expect(await lookUp(attempt.id)).toEqual([{ ...ofAttempt, kind: ItemKind.ATTEMPT, summary }]);
    const receiptId = settled?.outcome?.receiptId ?? '';
    expect(await lookUp(receiptId)).toEqual([{ ...ofAttempt, kind: ItemKind.RECEIPT, summary }]);
    const kind = tested.contestService === 'challenge' ? ItemKind.CHALLENGE : ItemKind.ROUND;
    const [contest, ...more] = await lookUp(attempt.contestId);
    expect([contest, more]).toEqual([
      { kind, tenant, attemptId: '', accountId: '', summary: expect.stringMatching(/./) },
      [],
    ]);
    const hidden = newOwnedId(tested.contestService);
    await h.database.query({ text: tested.insertRefused }, [(await again()).id, [hidden], h.clock()]);
    for (const id of [hidden, newId(), tenant.programId, player.accountId]) expect(await lookUp(id)).toEqual([]);
  });
}

/** Tests the history of one attempt, as `itListsAttempts` tests lists. */
export function itDescribesAttempts(tested: ListedContest): void {
  const { harness: h, tenant } = tested;
  const { expectUntouched } = createAttemptInspector<Attempt>(tested as InspectedContest<Attempt>);
  const describe = (attemptId: string, programId = tenant.programId) =>
    tested.service().describeAttempt({ programId, attemptId, anyProgram: false });

  it('the history of an attempt contains the stored facts', async () => {
    const { attempt: open, player, again } = await tested.openAttempt();
    const [settled, expired, voided] = [await again(), await again(), await again()];
    const outcome = await tested.reportOutcome(settled.id);
    expectAccepted(await tested.service().expireAttempt({ tenant, attemptId: expired.id }));
    expectAccepted(await tested.service().voidAttempt({ attemptId: voided.id, reason: 'a test' }));
    const read = async (attemptId: string) => {
      const described = await expectUntouched(attemptId, () => describe(attemptId));
      const { attempt, facts } = expectAccepted(described);
      const { attempt: inspected } = expectAccepted(await tested.service().inspectAttempt({ attemptId }));
      expect(attempt).toEqual(inspected);
      return facts.map(({ kind, at, amountCents, reason }) => ({
        kind: nameOf(ATTEMPT_FACTS, kind),
        isTimed: at !== undefined,
        amountCents,
        reason,
      }));
    };
    const fact = (kind: string, fields: object = {}) => ({
      kind,
      isTimed: true,
      amountCents: undefined,
      reason: '',
      ...fields,
    });
    const paid = [fact('created'), fact('fee_charged', { amountCents: tested.feeCents })];
    const refunded = (reason: string) => fact('fee_refunded', { amountCents: tested.feeCents, reason });
    expect(await read(open.id)).toEqual(paid);
    expect(await read(settled.id)).toEqual([...paid, fact('settled')]);
    expect(await read(expired.id)).toEqual([...paid, fact('expired', { isTimed: false }), refunded('expired')]);
    expect(await read(voided.id)).toEqual([
      ...paid,
      fact('voided', { isTimed: false, reason: 'a test' }),
      refunded('voided'),
    ]);
    expect(expectAccepted(await describe(settled.id)).attempt?.outcome).toEqual(outcome);
    const asOperator = { programId: '', attemptId: settled.id, anyProgram: true };
    const described = expectAccepted(await tested.service().describeAttempt(asOperator));
    expect(described).toEqual(expectAccepted(await describe(settled.id)));
    expect(described).toMatchObject({ tenant, accountId: player.accountId, awardId: '' });
    for (const unknown of [describe(open.id, newId()), describe(newOwnedId(tested.contestService))])
      expect(await unknown).toMatchObject({ code: 'not_found' });
    await h.server.sweepOnce();
  });
}
