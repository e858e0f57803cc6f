/**
 * The receipt of an attempt: its evidence, the check in the browser, the file for the command line.
 * Everything works on the text that was sent, because the signature is of exactly that.
 */
import { type ReactNode, useState } from 'react';
import type { Receipt as SignedReceipt } from '../api/api-types.ts';
import { useText } from '../api/use-read.ts';
import { Button } from '../kit/button.tsx';
import { Code, CodeSample } from '../kit/code-sample.tsx';
import { Facts } from '../kit/facts.tsx';
import { Id } from '../kit/id.tsx';
import { Loaded } from '../kit/loaded.tsx';
import { Money } from '../kit/money.tsx';
import { prettyJson } from '../kit/pretty-json.ts';
import { Status } from '../kit/status.tsx';
import type { ReceiptCheck } from './check-receipt.ts';
import { verifySamples } from './samples.ts';

interface ReceiptProps {
  readonly attemptId: string;
  /** The path from which the receipt is read. */
  readonly path: string;
}

export function Receipt({ attemptId, path }: ReceiptProps): ReactNode {
  return (
    <Loaded reading={useText(path)}>{(text) => <SignedText key={text} text={text} attemptId={attemptId} />}</Loaded>
  );
}

function SignedText({ text, attemptId }: { readonly text: string; readonly attemptId: string }): ReactNode {
  const [check, setCheck] = useState<ReceiptCheck>();
  const [isChecking, setChecking] = useState(false);
  const file = `receipt-${attemptId}.json`;
  const { receipt, seal } = JSON.parse(text) as SignedReceipt;
  const evidence = evidenceOf(receipt);
  const verify = async () => {
    setChecking(true);
    setCheck(await runCheck(text, attemptId));
    setChecking(false);
  };
  return (
    <>
      <p>
        Laurel signs every outcome with its evidence. Anyone can check it without Laurel
        {seal === undefined ? '.' : ', and that the settled round counted it.'}
      </p>
      <div className="receipt-actions">
        <Button tone="primary" isBusy={isChecking} onClick={() => void verify()}>
          {isChecking ? 'Verifying ...' : 'Verify in this browser'}
        </Button>
        <Button onClick={() => download(text, file)}>Download the receipt</Button>
      </div>
      <div role="status">{check !== undefined && <CheckResult check={check} />}</div>
      <CodeSample title="Verify without Laurel" samples={verifySamples(file, window.location.origin)} />
      <Facts items={factsOf(receipt, seal)} />
      <h3>Evidence</h3>
      {evidence === null ? (
        <p className="muted">None was sent with the outcome.</p>
      ) : (
        <Code text={evidence} label="The evidence" />
      )}
    </>
  );
}

/** Returns the evidence that was sent, with every digit of its numbers; null for none. */
function evidenceOf({ evidence, evidence_text: sent }: Readonly<Record<string, unknown>>): string | null {
  const text = typeof sent === 'string' ? sent : JSON.stringify(evidence ?? {});
  return text === '{}' ? null : prettyJson(text);
}

function factsOf(receipt: Readonly<Record<string, unknown>>, seal: SignedReceipt['seal']) {
  const ids = [
    { label: 'Receipt', name: 'receipt_id', what: 'receipt' },
    { label: 'Signed with', name: 'key_id', what: 'key' },
  ];
  return [
    ...ids
      .filter(({ name }) => typeof receipt[name] === 'string')
      .map(({ label, name, what }) => ({ label, value: <Id value={String(receipt[name])} what={what} /> })),
    ...(seal === undefined
      ? []
      : [
          { label: 'Rank in the round', value: String(seal.leaf.final_rank) },
          { label: 'Payout of the rank', value: <Money amount={String(seal.leaf.payout_amount)} /> },
        ]),
  ];
}

function CheckResult({ check }: { readonly check: ReceiptCheck }): ReactNode {
  if (check.kind === 'not_checked') {
    return (
      <p>
        <Status value="nothing was checked" tone="warn" /> {check.reason} Use the command line below.
      </p>
    );
  }
  return (
    <>
      <p>
        <Status value={check.isValid ? 'valid' : 'not valid'} tone={check.isValid ? 'good' : 'bad'} />
      </p>
      <ul className="checks">
        {check.checks.map(({ title, detail, hasPassed }) => (
          <li key={title} data-tone={hasPassed ? 'good' : 'bad'}>
            <strong>{title}</strong> {hasPassed ? 'passed' : 'failed'}: {detail}.
          </li>
        ))}
      </ul>
    </>
  );
}

/** The code that checks is loaded when somebody asks for it. */
async function runCheck(receipt: string, attemptId: string): Promise<ReceiptCheck> {
  try {
    const { checkReceipt } = await import('./check-receipt.ts');
    return await checkReceipt({ receipt, attemptId, readKeys, subtle: globalThis.crypto?.subtle });
  } catch {
    return { kind: 'not_checked', reason: 'The code that checks could not be loaded.' };
  }
}

async function readKeys(): Promise<string | null> {
  try {
    const response = await fetch('/.well-known/laurel-keys.json', { credentials: 'omit', redirect: 'error' });
    return response.ok ? await response.text() : null;
  } catch {
    return null;
  }
}

function download(text: string, name: string): void {
  const address = URL.createObjectURL(new Blob([text], { type: 'application/json' }));
  const link = document.createElement('a');
  link.href = address;
  link.download = name;
  link.click();
  URL.revokeObjectURL(address);
}
