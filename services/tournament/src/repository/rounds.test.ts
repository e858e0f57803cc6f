/** What the constraints of the tables refuse, and how tournaments and rounds are read. */
import {
  MAX_METADATA_BYTES,
  MAX_PLAYER_REF_CHARACTERS,
  MAX_REVIEW_REASON_CHARACTERS,
  MAX_VOID_REASON_CHARACTERS,
} from '@laurel/attempts/domain';
import { isExactBound } from '@laurel/testing';
import { newId } from '@laurel/values/ids';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Tournament } from '../domain/tournament.ts';
import { type Harness, HOUR_MS, NOW, playersOf, roundOf, startHarness, TENANT, TERMS } from './repository.fixture.ts';
import {
  cancelRound,
  changeRoundStatus,
  findRound,
  insertRound,
  loadEntryRounds,
  loadUnfinishedRounds,
  moveRoundEnds,
} from './rounds.ts';
import {
  findTournament,
  insertTournament,
  listTournamentsOf,
  loadTournamentsWithoutRound,
  lockTournament,
  updateTournamentStatus,
} from './tournaments.ts';

let h: Harness;
beforeAll(async () => {
  h = await startHarness();
});
afterAll(() => h[Symbol.asyncDispose]());

async function refusalOf(text: string, values: readonly unknown[]): Promise<unknown> {
  return h.database.query({ text }, values).then(
    () => 'nothing refused it',
    (error: { readonly constraint?: string }) => error.constraint ?? error,
  );
}

describe('a tournament', () => {
  it.each([
    ['a name', 'tournaments_name_length', 255, (text: string) => ({ name: text })],
    ['a description', 'tournaments_description_length', 2_000, (text: string) => ({ description: text })],
    ['a metric', 'tournaments_metric_name_length', 255, (text: string) => ({ metricName: text })],
    ['a unit', 'tournaments_metric_unit_length', 255, (text: string) => ({ metricUnit: text })],
    [
      'a tiebreak',
      'tournaments_tiebreak_metric_name_length',
      255,
      (text: string) => ({ tiebreak: { metricName: text, direction: 'lower_is_better' as const } }),
    ],
  ])(
    'the database accepts %s of up to as many characters as the rule allows, however many code units each has',
    async (_, constraint, most, change) => {
      const insert = (characters: number) =>
        insertTournament(h.database, {
          id: newId(),
          tenant: { programId: newId(), environment: 'live' },
          status: 'active',
          terms: { ...TERMS, ...change('🎯'.repeat(characters)) },
          createdAt: NOW,
        });
      await insert(most);
      await expect(insert(most + 1)).rejects.toMatchObject({ constraint });
    },
  );

  it('a tournament reads back as written, with its newest round', async () => {
    const tenant = { programId: newId(), environment: 'live' } as const;
    const one: Tournament = { id: newId(), tenant, status: 'active', terms: TERMS, createdAt: NOW };
    const other: Tournament = {
      id: newId(),
      tenant,
      status: 'active',
      terms: {
        ...TERMS,
        description: 'every week',
        tiebreak: { metricName: 'seconds', direction: 'lower_is_better' },
        roundLengthSeconds: 3_600,
      },
      createdAt: new Date(NOW.getTime() + 1),
    };
    await insertTournament(h.database, other);
    await insertTournament(h.database, one);
    expect(await findTournament(h.database, newId())).toBeNull();
    expect(await findTournament(h.database, one.id)).toEqual({ tournament: one, currentRound: null });

    const first = roundOf(other);
    expect(await insertRound(h.database, first)).toBe(true);
    const empty = { entrants: 0, scoredPlayers: 0, scoredAttempts: 0 };
    const listed = { tournament: other, currentRound: { round: first, tally: empty } };
    expect(await listTournamentsOf(h.database, tenant)).toEqual([{ tournament: one, currentRound: null }, listed]);
    await updateTournamentStatus(h.database, one.id, 'paused');
    expect(await listTournamentsOf(h.database, tenant, ['active'])).toEqual([listed]);
    expect(await listTournamentsOf(h.database, { ...tenant, environment: 'test' })).toEqual([]);
    expect(await h.database.transaction((tx) => lockTournament(tx, one.id))).toEqual({ ...one, status: 'paused' });

    await changeRoundStatus(h.database, first.id, 'open', 'cancelling');
    const second = roundOf(other, { number: 2 });
    expect(await insertRound(h.database, second)).toBe(true);
    expect((await findTournament(h.database, other.id))?.currentRound?.round).toEqual(second);
    expect(await loadTournamentsWithoutRound(h.database, 10)).not.toContain(other.id);
    await changeRoundStatus(h.database, second.id, 'open', 'settling');
    expect(await loadTournamentsWithoutRound(h.database, 10)).toEqual([other.id]);
    await updateTournamentStatus(h.database, other.id, 'paused');
    expect(await loadTournamentsWithoutRound(h.database, 10)).toEqual([]);
    const settling = { ...second, status: 'settling' } as const;
    expect(await findRound(h.database, second.id)).toEqual({ round: settling, tally: empty });
    const { id, opensAt, entriesCloseAt, status } = settling;
    const { entryFeeCents, attemptCap } = second.terms;
    expect(await loadEntryRounds(h.database, [id, id, newId()])).toEqual(
      new Map([[id, { id, tenant, status, opensAt, entriesCloseAt, terms: { entryFeeCents, attemptCap } }]]),
    );
  });

  it('the terms of a tournament never change, and a closed tournament stays closed', async () => {
    const { tournamentId } = await h.openRound();
    const values = [tournamentId];
    const refused = (assignment: string) => refusalOf(`update tournaments set ${assignment} where id = $1`, values);
    expect(await refused('attempt_cap = 2')).toBe('tournaments_terms_are_frozen');
    expect(await refused('purse_cents = array[1]')).toBe('tournaments_terms_are_frozen');
    expect(await refusalOf('delete from tournaments where id = $1', values)).toBe('tournaments_are_kept');
    await updateTournamentStatus(h.database, tournamentId, 'closed');
    expect(await refused(`status = 'active'`)).toBe('tournaments_closed_is_final');
    expect(await refused(`status = 'closed'`)).toBe('nothing refused it');
  });

  it('the database refuses a purse that skips a rank or increases', async () => {
    const insert = async (purse: string) =>
      refusalOf(
        `
        insert into tournaments
        select $2::uuid, program_id, environment, status, name, description, metric_name, metric_unit, direction, tiebreak_metric_name,
          tiebreak_direction, entry_fee_cents, attempt_cap, ${purse}, min_entrants, min_scored_attempts, round_length_seconds, created_at
        from tournaments where id = $1`,
        [(await h.openRound()).tournamentId, newId()],
      );
    expect(await insert('array[5, 5, 1]')).toBe('nothing refused it');
    expect(await insert('array[5, 6]')).toBe('tournaments_purse_never_grows_with_rank');
    expect(await insert('array[5, 0]')).toBe('tournaments_purse_is_positive');
    expect(await insert('array[5, null]')).toBe('tournaments_purse_is_a_list_of_ranks');
    expect(await insert(`'{}'`)).toBe('tournaments_purse_is_a_list_of_ranks');
    expect(await insert(`'[0:1]={5,5}'`)).toBe('tournaments_purse_is_a_list_of_ranks');
    expect(await insert(`'{{5},{5}}'`)).toBe('tournaments_purse_is_a_list_of_ranks');
  });
});

describe('a round', () => {
  it('the terms of a round never change, and its status only moves forward', async () => {
    const { id } = await h.openRound();
    const refused = (assignment: string) => refusalOf(`update rounds set ${assignment} where id = $1`, [id]);
    expect(await refused('entry_fee_cents = 1')).toBe('rounds_terms_are_frozen');
    expect(await refused(`opens_at = opens_at - interval '1 second'`)).toBe('rounds_terms_are_frozen');
    expect(await refusalOf('delete from rounds where id = $1', [id])).toBe('rounds_are_kept');
    expect(await refused(`status = 'settled', settled_at = now()`)).toBe('rounds_status_only_moves_on');
    expect(await refused(`status = 'cancelled'`)).toBe('rounds_status_only_moves_on');
    expect(await changeRoundStatus(h.database, id, 'settling', 'settled')).toBe(false);
    expect(await changeRoundStatus(h.database, id, 'open', 'settling')).toBe(true);
    expect(await refused(`status = 'open'`)).toBe('rounds_status_only_moves_on');
    expect(await refused(`status = 'settled'`)).toBe('rounds_settled_at_follows_status');
    expect(await refused(`settled_at = now()`)).toBe('rounds_settled_at_follows_status');
  });

  it('only an open round of the sandbox may end sooner, and no round may end later', async () => {
    const round = await h.openRound();
    const refused = (id: string, assignment: string) =>
      refusalOf(`update rounds set ${assignment} where id = $1`, [id]);
    const soon = new Date(NOW.getTime() + 1);
    await moveRoundEnds(h.database, { id: round.id, entriesCloseAt: soon, closesAt: soon });
    expect((await findRound(h.database, round.id))?.round).toEqual({ ...round, entriesCloseAt: soon, closesAt: soon });
    const later = `closes_at = closes_at + interval '1 second'`;
    const sooner = `entries_close_at = opens_at`;
    expect(await refused(round.id, later)).toBe('rounds_end_when_they_said');
    expect(await refused(round.id, `closes_at = opens_at`)).toBe('rounds_times_are_in_order');
    await changeRoundStatus(h.database, round.id, 'open', 'settling');
    expect(await refused(round.id, sooner)).toBe('rounds_end_when_they_said');

    const live: Tournament = {
      id: newId(),
      tenant: { ...TENANT, environment: 'live' },
      status: 'active',
      terms: TERMS,
      createdAt: NOW,
    };
    await insertTournament(h.database, live);
    const liveRound = roundOf(live);
    await insertRound(h.database, liveRound);
    expect(await refused(liveRound.id, sooner)).toBe('rounds_end_when_they_said');
  });

  it('the database accepts one cancellation of an open round, and no settlement after it', async () => {
    const insertion = (reason: string) => `
      insert into round_cancellations (round_id, cancelled_at, cancelled_by, reason)
      values ($1, '${NOW.toISOString()}', 'ada', '${reason}')`;
    const over = 'entries_close_at = opens_at, closes_at = opens_at';
    for (const environment of ['test', 'live'] as const) {
      const tenant = { ...TENANT, environment };
      const tournament: Tournament = { id: newId(), tenant, status: 'active', terms: TERMS, createdAt: NOW };
      await insertTournament(h.database, tournament);
      const round = roundOf(tournament);
      await insertRound(h.database, round);
      const refused = (assignment: string) => refusalOf(`update rounds set ${assignment} where id = $1`, [round.id]);
      expect(await refusalOf(insertion('a broken game'), [round.id])).toBe('rounds_that_are_cancelled_are_over');
      expect(await refusalOf(insertion(' \n'), [round.id])).toBe('round_cancellations_reason_has_words');
      if (environment === 'live') expect(await refused(over)).toBe('rounds_end_when_they_said');

      const cancellation = { at: NOW, by: 'ada', reason: 'a broken game' };
      const ended = { ...round, cancellation, entriesCloseAt: NOW, closesAt: NOW };
      await h.database.transaction((tx) => cancelRound(tx, ended));
      expect((await findRound(h.database, round.id))?.round).toEqual(ended);
      for (const change of [
        `update round_cancellations set reason = 'another' where round_id = $1`,
        'delete from round_cancellations where round_id = $1',
      ]) {
        expect(await refusalOf(change, [round.id])).toBe('round_cancellations_are_kept');
      }
      expect(await refusalOf(insertion('again'), [round.id])).toBe('round_cancellations_pkey');
      expect(await refused(`status = 'settling'`)).toBe('rounds_that_are_cancelled_never_settle');
      expect(await changeRoundStatus(h.database, round.id, 'open', 'cancelling')).toBe(true);
      expect(await refused(`status = 'settled', settled_at = now()`)).toBe('rounds_status_only_moves_on');
      expect(await changeRoundStatus(h.database, round.id, 'cancelling', 'cancelled')).toBe(true);
    }
    for (const status of ['settling', 'cancelling'] as const) {
      const round = await h.openRound();
      await changeRoundStatus(h.database, round.id, 'open', status);
      expect(await refusalOf(insertion('a broken game'), [round.id])).toBe('rounds_are_cancelled_while_open');
    }
  });

  it('the database accepts payouts only for a round that settles', async () => {
    const round = await h.openRound();
    const [attempt] = await h.enter(round, playersOf(1));
    if (attempt === undefined) throw new Error('no attempt');
    const insert = () =>
      refusalOf(
        `insert into round_payouts (award_id, round_id, entry_id, account_id, final_rank, amount_cents, status, created_at)
         values ($1, $2, $3, $4, 1, 1, 'paying', now())`,
        [newId(), round.id, attempt.entryId, attempt.accountId],
      );
    const rule = 'round_payouts_are_of_a_round_that_ran';
    expect(await insert()).toBe(rule);
    await changeRoundStatus(h.database, round.id, 'open', 'cancelling');
    expect(await insert()).toBe(rule);
    await changeRoundStatus(h.database, round.id, 'cancelling', 'cancelled');
    expect(await insert()).toBe(rule);
    const other = await h.openRound();
    await changeRoundStatus(h.database, other.id, 'open', 'settling');
    const [entry] = await h.enter(await h.openRound(), playersOf(1));
    if (entry === undefined) throw new Error('no attempt');
    const text = `insert into round_payouts (award_id, round_id, entry_id, account_id, final_rank, amount_cents, status, created_at)
      select gen_random_uuid(), paid.round_id, paid.entry_id, $3, 1, 1, 'paying', now()
      from unnest($1::uuid[], $2::uuid[]) as paid (round_id, entry_id)`;
    // One row of a round that did not run makes the insert of the other rows fail too.
    const values = [[other.id, round.id], [entry.entryId, attempt.entryId], entry.accountId];
    expect(await refusalOf(text, values)).toBe(rule);
    expect(await refusalOf(text, [[other.id], [entry.entryId], entry.accountId])).toBe('nothing refused it');
  });

  it('a round is unfinished from its end until it is settled or cancelled', async () => {
    const round = await h.openRound();
    const idsAt = async (now: Date) => (await loadUnfinishedRounds(h.database, now)).map(({ id }) => id);
    const end = round.closesAt.getTime();
    expect(await idsAt(new Date(end - 1))).not.toContain(round.id);
    expect(await idsAt(new Date(end))).toContain(round.id);
    await changeRoundStatus(h.database, round.id, 'open', 'cancelling');
    expect(await idsAt(NOW)).toContain(round.id);
    await changeRoundStatus(h.database, round.id, 'cancelling', 'cancelled');
    expect(await idsAt(new Date(end + HOUR_MS))).not.toContain(round.id);
  });

  it('a round that an operator cancels is unfinished at once', async () => {
    const round = await h.openRound();
    const before = new Date(NOW.getTime() - HOUR_MS);
    const idsBefore = async () => (await loadUnfinishedRounds(h.database, before)).map(({ id }) => id);
    expect(await idsBefore()).not.toContain(round.id);
    const cancellation = { at: before, by: 'ada', reason: 'x' };
    const { opensAt } = round;
    const ended = { id: round.id, cancellation, entriesCloseAt: opensAt, closesAt: opensAt };
    await h.database.transaction((tx) => cancelRound(tx, ended));
    expect(await idsBefore()).toContain(round.id);
  });

  it('the database refuses an entry whose run, sort key and rank are inconsistent', async () => {
    const round = await h.openRound();
    const [attempt] = await h.enter(round, playersOf(1));
    const [pending] = await h.begin(round, playersOf(1));
    if (attempt === undefined || pending === undefined) throw new Error('no attempt');
    await h.report([{ attemptId: attempt.id, score: 1 }]);
    const refused = (id: string, assignment: string) =>
      refusalOf(`update entries set ${assignment} where id = $1`, [id]);
    expect(await refused(attempt.entryId, 'best_score = null')).toBe('entries_best_run_is_complete');
    expect(await refused(attempt.entryId, `best_score = 'NaN'`)).toBe('entries_best_score_is_finite');
    expect(await refused(attempt.entryId, `sort_key = substring(sort_key from 2)`)).toBe(
      'entries_sort_key_ends_with_the_entry',
    );
    expect(await refused(attempt.entryId, 'sort_key = set_byte(sort_key, 38, 255 - get_byte(sort_key, 38))')).toBe(
      'entries_sort_key_ends_with_the_entry',
    );
    expect(await refused(attempt.entryId, 'bought_at = null')).toBe('entries_with_a_run_were_bought');
    expect(await refused(attempt.entryId, 'final_rank = 1')).toBe('entries_rank_and_payout_are_decided_together');
    expect(await refused(pending.entryId, 'final_rank = 1, payout_cents = 0')).toBe('entries_with_a_rank_have_a_run');
    expect(await refused(pending.entryId, 'best_tiebreak = 1')).toBe('entries_tiebreak_belongs_to_a_run');
    expect(
      await refusalOf(`update attempts set closed_reason = 'x', status = 'expired' where id = $1`, [attempt.id]),
    ).toBe('attempts_closed_with_a_reason');
  });
});

describe('the texts of a round', () => {
  const textOf = (characters: number) => '🎯'.repeat(characters);

  it.each([
    [
      'round_cancellations_reason_length',
      MAX_REVIEW_REASON_CHARACTERS,
      (length: number) => ({ reason: textOf(length) }),
    ],
    ['attempts_metadata_length', MAX_METADATA_BYTES, (length: number) => ({ metadata: 'x'.repeat(length) })],
    ['attempts_player_ref_length', MAX_PLAYER_REF_CHARACTERS, (length: number) => ({ player_ref: textOf(length) })],
    ['entry_refs_player_ref_length', MAX_PLAYER_REF_CHARACTERS, (length: number) => ({ player_ref: textOf(length) })],
    [
      'entries_best_player_ref_length',
      MAX_PLAYER_REF_CHARACTERS,
      (length: number) => ({ best_player_ref: textOf(length) }),
    ],
    [
      'attempts_closed_reason_length',
      MAX_VOID_REASON_CHARACTERS,
      (length: number) => ({ closed_reason: textOf(length) }),
    ],
  ])('the constraint %s has the same bound as the rule', async (constraint, most, valuesOf) => {
    expect(await isExactBound(h.database, { constraint, most }, valuesOf)).toBe(true);
  });
});
