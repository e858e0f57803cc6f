/** The facts on which a change of an account depends, in the words of the account's page. */
import type { Account, AccountLinks } from '../../../api/api-types.ts';
import { money, utcTime } from '../../../kit/format.ts';
import type { Fact } from '../../layout/changes-since.ts';
import type { ShownItem } from '../../layout/use-changes-since.ts';
import { FLAGS, type Flag } from './flag-changes.ts';
import { linkedProgramsOf } from './linked-programs.ts';

/** The routes that show an account, or what an account decides. */
export const AFFECTS = ['/accounts', '/actions', '/payouts'] as const;

const ACCOUNT_FACTS: readonly Fact<Account>[] = [
  flagFact('blocked'),
  {
    label: 'Self-exclusion',
    of: ({ self_excluded_until: until }) => (until === null ? 'none' : `until ${utcTime(until)}`),
  },
  flagFact('enforcement_flag'),
  flagFact('under_investigation'),
  { label: 'Verification level', of: ({ verification_level: level }) => String(level) },
  { label: 'Jurisdiction', of: ({ jurisdiction }) => jurisdiction },
  { label: 'Fee limit', of: ({ fee_limit: limit }) => (limit === null ? 'the program’s' : money(limit)) },
];

function flagFact(flag: Flag): Fact<Account> {
  return { label: FLAGS[flag].label, of: (account) => (account[flag] ? 'yes' : 'no') };
}

export function accountItem(account: Account): ShownItem<Account> {
  return {
    path: `/accounts/${account.id}`,
    shown: account,
    facts: ACCOUNT_FACTS,
    subjects: [{ name: `account:${account.id}` }],
    affects: AFFECTS,
  };
}

interface LinksOfProgram {
  readonly accountId: string;
  readonly programId: string;
  readonly shown: AccountLinks;
}

/** The links of one program to the account. */
export function linksItem({ accountId, programId, shown }: LinksOfProgram): ShownItem<AccountLinks> {
  return {
    path: `/accounts/${accountId}/player-links`,
    shown,
    facts: [{ label: 'Players of the program', of: (links) => playersIn(links, programId) }],
    subjects: [{ name: `account:${accountId}` }],
    affects: AFFECTS,
  };
}

function playersIn(links: AccountLinks, programId: string): string {
  const program = linkedProgramsOf(links).find((one) => one.programId === programId);
  if (program === undefined) return 'none';
  if (program.severedAt !== null) return 'severed';
  return program.links.map(({ environment, player_ref: ref }) => `${ref} in ${environment}`).join(', ');
}
