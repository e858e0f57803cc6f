/**
 * Which of many third-party systems a service may call now. A slot is the right to one run in
 * flight: one send, one poll. The one rule is that a slow or dead subject does not delay another
 * one, although each run of a dead subject holds its slot for the whole timeout.
 *
 * A subject is what the runs call: an endpoint, an origin. Its share depends on its health, the end
 * of its last run in this process; the caller says which ends are slow or failing.
 *   proven    ended well and soon: all slots
 *   slow      ended late: while slow and failing subjects together hold less than half of all slots
 *   failing   ended badly: on the same condition
 *   untried   no run has ended yet: while all but the proven subjects together hold less than 7/8
 *             of all slots
 * So slow and dead subjects, however many, leave half of the slots to the others, and all that are
 * not proven leave an eighth to the proven ones. Untried subjects have a larger share than failing
 * ones because to a new process every subject is untried: if they shared that half, as many dead
 * subjects as it has slots would delay every healthy one for a whole timeout.
 *
 * The caller decides the order in which subjects are offered slots.
 */

export type SubjectHealth = 'proven' | 'slow' | 'failing' | 'untried';

/** The health of a subject after the end of a run. */
export type KnownHealth = Exclude<SubjectHealth, 'untried'>;

export type FairSlotLimits = {
  /** The most slots that are held at once. */
  readonly total: number;
  /** The most slots of one proven or slow subject. */
  readonly perSubject: number;
  /** The most slots of one failing or untried subject. */
  readonly perDoubtfulSubject: number;
};

export interface FairSlots {
  /** Takes a slot for the subject; false if it may not have one now. */
  take(subject: string): boolean;
  /** Gives back slots that were taken and not used; the subject's health stays. */
  giveBack(subject: string, count: number): void;
  /** A run has ended: its slot is free. */
  end(subject: string, health: KnownHealth): void;
  /** Slots that are held. */
  readonly held: number;
}

/** How many subjects are known: those whose runs ended last. All others are untried again. */
export const MAX_KNOWN_SUBJECTS = 10_000;

/** Slots that become free within a second keep the waits of healthy subjects short. */
const SLOW_MS = 1_000;

/** The health of a subject after a run that ended well. */
export function healthAfterSuccess(durationMs: number): 'proven' | 'slow' {
  return durationMs < SLOW_MS ? 'proven' : 'slow';
}

export function createFairSlots(limits: FairSlotLimits): FairSlots {
  const { total, perSubject, perDoubtfulSubject } = limits;
  const maxHeldBack = Math.max(1, Math.floor(total / 2));
  const maxUnproven = Math.max(maxHeldBack, total - Math.max(1, Math.ceil(total / 8)));

  const slotsOf = new Map<string, number>();
  // A subject without an entry is untried. The subject whose run ended last is at the end.
  const healths = new Map<string, KnownHealth>();
  const heldBy: Record<SubjectHealth, number> = { proven: 0, slow: 0, failing: 0, untried: 0 };
  let held = 0;

  function healthOf(subject: string): SubjectHealth {
    return healths.get(subject) ?? 'untried';
  }

  function mayTake(subject: string): boolean {
    const health = healthOf(subject);
    const maxOwn = health === 'proven' || health === 'slow' ? perSubject : perDoubtfulSubject;
    if (held >= total || (slotsOf.get(subject) ?? 0) >= maxOwn) return false;
    if (health === 'proven') return true;
    const heldBack = heldBy.slow + heldBy.failing;
    if (heldBack + heldBy.untried >= maxUnproven) return false;
    return health === 'untried' || heldBack < maxHeldBack;
  }

  function hold(subject: string, change: number): void {
    const own = (slotsOf.get(subject) ?? 0) + change;
    if (own === 0) slotsOf.delete(subject);
    else slotsOf.set(subject, own);
    heldBy[healthOf(subject)] += change;
    held += change;
  }

  /** All slots of the subject count towards its new health. */
  function setHealth(subject: string, health: SubjectHealth): void {
    const own = slotsOf.get(subject) ?? 0;
    heldBy[healthOf(subject)] -= own;
    healths.delete(subject);
    if (health !== 'untried') healths.set(subject, health);
    heldBy[health] += own;
  }

  return {
    take(subject) {
      if (!mayTake(subject)) return false;
      hold(subject, 1);
      return true;
    },

    giveBack: (subject, count) => hold(subject, -count),

    end(subject, health) {
      setHealth(subject, health);
      hold(subject, -1);
      const [oldest] = healths.keys();
      if (oldest !== undefined && healths.size > MAX_KNOWN_SUBJECTS) setHealth(oldest, 'untried');
    },

    get held() {
      return held;
    },
  };
}
