import { type FormEvent, type ReactNode, useState } from 'react';
import type { SandboxPlayerRequest } from '../../api/api-types.ts';
import { Button } from '../../kit/button.tsx';
import { Field, SelectField } from '../../kit/field.tsx';
import { Section } from '../../kit/page.tsx';
import { LastResult } from './steps.tsx';
import type { Sandbox } from './use-sandbox.ts';

const DAY_MS = 24 * 60 * 60 * 1_000;
const AMOUNT = '\\d{1,5}(\\.\\d{1,2})?';

const EXCLUSIONS = [
  { value: '', label: 'Leave as it is' },
  { value: 'day', label: 'Self-exclude for a day' },
  { value: 'end', label: 'End the self-exclusion' },
];
const INVESTIGATIONS = [
  { value: '', label: 'Leave as it is' },
  { value: 'yes', label: 'Under investigation' },
  { value: 'no', label: 'Not under investigation' },
];

interface PlayerFormProps {
  readonly sandbox: Sandbox;
  readonly playerRef: string;
  readonly onPlayerRef: (playerRef: string) => void;
}

export function PlayerForm({ sandbox, playerRef, onPlayerRef }: PlayerFormProps): ReactNode {
  const [funds, setFunds] = useState('50.00');
  const [exclusion, setExclusion] = useState('');
  const [investigation, setInvestigation] = useState('');
  const save = (event: FormEvent) => {
    event.preventDefault();
    const body: SandboxPlayerRequest = {
      player_ref: playerRef,
      ...(funds.trim() !== '' && { funds: asAmount(funds) }),
      ...(exclusion === 'day' && { self_excluded_until: new Date(Date.now() + DAY_MS).toISOString() }),
      ...(exclusion === 'end' && { self_excluded_until: null }),
      ...(investigation !== '' && { under_investigation: investigation === 'yes' }),
    };
    sandbox.run({ kind: 'put-player', body });
  };
  return (
    <Section title="Player">
      <form className="sandbox-form" onSubmit={save}>
        <Field
          label="Player ref"
          hint="Your own name for the player. A new one makes a player."
          value={playerRef}
          onChange={(event) => onPlayerRef(event.target.value)}
          required
          maxLength={255}
        />
        <Field
          label="Add funds (USD)"
          hint="Play money, at most 10,000.00 in all. Empty adds none."
          value={funds}
          onChange={(event) => setFunds(event.target.value)}
          inputMode="decimal"
          pattern={AMOUNT}
        />
        <SelectField
          label="Self-exclusion"
          options={EXCLUSIONS}
          value={exclusion}
          onChange={(event) => setExclusion(event.target.value)}
        />
        <SelectField
          label="Investigation"
          options={INVESTIGATIONS}
          value={investigation}
          onChange={(event) => setInvestigation(event.target.value)}
        />
        <div className="sandbox-buttons">
          <Button type="submit" tone="primary" isBusy={sandbox.running === 'put-player'}>
            Save the player
          </Button>
          <Button
            disabled={playerRef === ''}
            isBusy={sandbox.running === 'hold-next-award'}
            onClick={() => sandbox.run({ kind: 'hold-next-award', playerRef })}
          >
            Hold the next award
          </Button>
        </div>
        <LastResult kinds={['put-player', 'hold-next-award']} />
      </form>
    </Section>
  );
}

/** Turns "50" into "50.00", and "1.5" into "1.50". */
function asAmount(text: string): string {
  const [whole = '', cents = ''] = text.trim().split('.');
  return `${whole}.${cents.padEnd(2, '0')}`;
}
