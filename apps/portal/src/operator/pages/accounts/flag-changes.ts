/** The flags of an account: what the page says of each flag, and what a dialog says of a change. */
import type { Account } from '../../../api/api-types.ts';

export type Flag = keyof Pick<Account, 'blocked' | 'enforcement_flag' | 'under_investigation'>;

interface FlagChange {
  readonly button: string;
  readonly confirm: string;
  readonly title: (email: string) => string;
  readonly consequence: string;
}

interface FlagWords {
  readonly label: string;
  /** What the flag does while it is set. */
  readonly effect: string;
  readonly set: FlagChange;
  readonly clear: FlagChange;
}

const HOLDS =
  'Every prize that the player wins from now on is held until an operator releases or denies it. The player can still pay for attempts, and nothing that was paid is taken back.';
const HOLDS_NO_MORE =
  'Prizes that the player wins from now on are paid at once, if no other rule holds them. What is held already stays held: it waits for its decision.';

export const FLAGS: Readonly<Record<Flag, FlagWords>> = {
  blocked: {
    label: 'Block',
    effect: 'Paid attempts get 403 blocked in every program.',
    set: {
      button: 'Block',
      confirm: 'Block',
      title: (email) => `Block ${email}?`,
      consequence:
        'Every paid attempt of the player gets 403 blocked from now on, in every program, and nothing is charged. Open attempts and free attempts continue.',
    },
    clear: {
      button: 'Unblock',
      confirm: 'Unblock',
      title: (email) => `Unblock ${email}?`,
      consequence: 'The player can pay for attempts again at once, in every program, if no other rule is against it.',
    },
  },
  enforcement_flag: {
    label: 'Enforcement flag',
    effect: 'Prizes are held for an operator.',
    set: {
      button: 'Set the enforcement flag',
      confirm: 'Set the flag',
      title: (email) => `Set the enforcement flag of ${email}?`,
      consequence: HOLDS,
    },
    clear: {
      button: 'Clear the enforcement flag',
      confirm: 'Clear the flag',
      title: (email) => `Clear the enforcement flag of ${email}?`,
      consequence: HOLDS_NO_MORE,
    },
  },
  under_investigation: {
    label: 'Investigation',
    effect: 'Prizes are held for an operator.',
    set: {
      button: 'Begin an investigation',
      confirm: 'Begin',
      title: (email) => `Begin an investigation of ${email}?`,
      consequence: HOLDS,
    },
    clear: {
      button: 'End the investigation',
      confirm: 'End',
      title: (email) => `End the investigation of ${email}?`,
      consequence: HOLDS_NO_MORE,
    },
  },
};
