/** The challenges and rounds of a program as one list to choose from. */
import type { OperatorChallenge, OperatorTournament } from '../../api/api-types.ts';
import { formatScore, money, words } from '../../kit/format.ts';

export interface Contest {
  readonly kind: 'challenge' | 'round';
  /** The id of the challenge or of the tournament: it stays when the next round opens. */
  readonly key: string;
  /** The challenge's id, or the round's. */
  readonly id: string;
  readonly name: string;
  readonly status: string;
  readonly fee: string;
  /** The goal, such as "bar 100 points". */
  readonly goal: string;
  readonly metric: string;
  /** The name of the tiebreak's metric, where the tournament has one. */
  readonly tiebreak: string | null;
  /**
   * Whether the challenge is a rung that is open only to players who have claimed the rung below.
   */
  readonly isUpperRung: boolean;
}

/** Returns the contests without closed challenges; those that a new player can enter come first. */
export function contestsOf(
  challenges: readonly OperatorChallenge[],
  tournaments: readonly OperatorTournament[],
): readonly Contest[] {
  const all = [
    ...challenges.filter(({ status }) => status !== 'closed').map(ofChallenge),
    ...tournaments.flatMap(ofTournament),
  ];
  return all.toSorted((one, other) => placeOf(one) - placeOf(other));
}

export function labelOf({ kind, name, status, fee, isUpperRung }: Contest): string {
  const what = kind === 'round' ? 'round, ' : isUpperRung ? 'upper rung, ' : '';
  const price = fee === '0.00' ? 'free' : `fee ${money(fee)}`;
  return `${name} · ${what}${price} · ${words(status)}`;
}

function placeOf({ status, isUpperRung }: Contest): number {
  if (!['live', 'calibrating', 'open'].includes(status)) return 2;
  return isUpperRung ? 1 : 0;
}

function ofChallenge(challenge: OperatorChallenge): Contest {
  const { id, name, status, fee, prize, threshold, metric_unit: unit, threshold_direction: direction } = challenge;
  const side = direction === 'higher_is_better' ? 'at least' : 'at most';
  const bar = threshold === null ? 'no bar yet' : `${side} ${formatScore(threshold)} ${unit} wins ${money(prize)}`;
  return {
    kind: 'challenge',
    key: id,
    id,
    name,
    status,
    fee,
    goal: bar,
    metric: unit,
    tiebreak: null,
    isUpperRung: challenge.rung > 1,
  };
}

function ofTournament(tournament: OperatorTournament): readonly Contest[] {
  const { name, current_round: round, metric_unit: metric, tiebreak_metric_name: tiebreak } = tournament;
  if (round === null) return [];
  const goal = `a purse of ${money(round.purse_amount)}`;
  return [
    {
      kind: 'round',
      key: tournament.id,
      id: round.id,
      name,
      status: round.status,
      fee: round.entry_fee,
      goal,
      metric,
      tiebreak,
      isUpperRung: false,
    },
  ];
}
