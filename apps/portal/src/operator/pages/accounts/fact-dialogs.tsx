/** The dialogs that change the facts of an account other than its flags. */
import { type ReactNode, useState } from 'react';
import type { Account } from '../../../api/api-types.ts';
import { Field, SelectField } from '../../../kit/field.tsx';
import { utcTime } from '../../../kit/format.ts';
import { AccountDialog } from './account-dialog.tsx';
import { exclusionOf, isExcluded } from './exclusion.ts';
import { VERIFICATION_LEVELS } from './verification-levels.ts';

interface DialogProps {
  readonly account: Account;
  readonly onClose: () => void;
}

export function ExclusionDialog({ account, onClose }: DialogProps): ReactNode {
  const [typed, setTyped] = useState('');
  const until = exclusionOf(typed, new Date());
  return (
    <AccountDialog
      account={account}
      title={`Exclude ${account.email}?`}
      consequence="Until then every paid attempt of the player gets 403 blocked, in every program, and nothing is charged. It ends by itself. Open attempts and free attempts continue."
      confirm="Exclude"
      tone="danger"
      body={until === undefined ? undefined : { self_excluded_until: until }}
      onClose={onClose}
    >
      <Field
        label="Until"
        hint={until === undefined ? 'A time to come, in your time zone.' : endWords(until, account.self_excluded_until)}
        error={typed !== '' && until === undefined ? 'Choose a time to come.' : undefined}
        type="datetime-local"
        value={typed}
        onChange={({ target }) => setTyped(target.value)}
      />
    </AccountDialog>
  );
}

/** The end in UTC; a shorter exclusion is named as such. */
function endWords(until: string, present: string | null): string {
  const isShorter = present !== null && Date.parse(until) < Date.parse(present);
  return isShorter ? `${utcTime(until)}: earlier than the present end, ${utcTime(present)}` : utcTime(until);
}

export function EndExclusionDialog({ account, onClose }: DialogProps): ReactNode {
  // Keeps the end that the account had when the dialog opened: the page may show another one
  // meanwhile.
  const [until] = useState(account.self_excluded_until);
  return (
    <AccountDialog
      account={account}
      title={`End the exclusion of ${account.email}?`}
      consequence={`The player can pay for attempts again at once, if no other rule is against it. The exclusion would have ended at ${utcTime(until ?? '')}.`}
      confirm="End the exclusion"
      tone="danger"
      body={{ self_excluded_until: null }}
      allows={(now) => isExcluded(now.self_excluded_until, new Date())}
      onClose={onClose}
    />
  );
}

export function JurisdictionDialog({ account, onClose }: DialogProps): ReactNode {
  const [typed, setTyped] = useState(account.jurisdiction);
  const jurisdiction = typed.trim().toUpperCase();
  const isChange = jurisdiction !== '' && jurisdiction !== account.jurisdiction;
  return (
    <AccountDialog
      account={account}
      title={`Change the jurisdiction of ${account.email}?`}
      consequence="In live, paid attempts get 403 blocked wherever the new jurisdiction is not served, and are possible wherever it is. Play money has no jurisdiction. Open attempts continue."
      confirm="Change"
      tone="primary"
      body={isChange ? { jurisdiction } : undefined}
      onClose={onClose}
    >
      <Field
        label="Jurisdiction"
        hint="A country, or a part of one: GB, US-CA."
        value={typed}
        onChange={({ target }) => setTyped(target.value)}
      />
    </AccountDialog>
  );
}

export function VerificationDialog({ account, onClose }: DialogProps): ReactNode {
  const [level, setLevel] = useState(String(account.verification_level));
  const isChange = Number(level) !== account.verification_level;
  return (
    <AccountDialog
      account={account}
      title={`Change the verification level of ${account.email}?`}
      consequence="Paid attempts of contests that need a higher level get 403 blocked; those that need this level or a lower one are possible. Open attempts continue."
      confirm="Change"
      tone="primary"
      body={isChange ? { verification_level: Number(level) } : undefined}
      onClose={onClose}
    >
      <SelectField
        label="Verification level"
        options={VERIFICATION_LEVELS}
        value={level}
        onChange={({ target }) => setLevel(target.value)}
      />
    </AccountDialog>
  );
}

export function FeeLimitDialog({ account, onClose }: DialogProps): ReactNode {
  const [typed, setTyped] = useState(account.fee_limit ?? '');
  const limit = typed.trim() || null;
  return (
    <AccountDialog
      account={account}
      title={`Change the fee limit of ${account.email}?`}
      consequence="A fee that would take what one program charged the account in 24 hours over the limit gets 403 blocked. The lower limit holds, this one or the program’s. An empty field leaves the program’s alone."
      confirm="Change"
      tone="primary"
      body={limit === account.fee_limit ? undefined : { fee_limit: limit }}
      onClose={onClose}
    >
      <Field
        label="Fees of one program in 24 hours, in US dollars"
        hint="With two places: 25.00."
        inputMode="decimal"
        placeholder="no limit of its own"
        value={typed}
        onChange={({ target }) => setTyped(target.value)}
      />
    </AccountDialog>
  );
}
