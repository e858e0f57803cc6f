/** Reads a sample by a descriptor as Laurel would, and marks the pointer that failed. */
import { type FormEvent, type ReactNode, useState } from 'react';
import type { DryRun as DryRunAnswer, PointerFailure, Transport } from '../../api/api-types.ts';
import { JsonText } from '../../api/client.ts';
import { useChange } from '../../api/use-read.ts';
import { Button } from '../../kit/button.tsx';
import { Code } from '../../kit/code-sample.tsx';
import { TextField } from '../../kit/field.tsx';
import { FailureLine } from '../../kit/problem.tsx';
import { Status } from '../../kit/status.tsx';
import { useProgram } from '../../layout/program.tsx';
import { checkDescriptor, checkJson } from './json-check.ts';
import { placeInDescriptor, placeInSample } from './json-lines.ts';
import { MarkedJson } from './marked-json.tsx';
import { firstSample } from './transports.ts';

interface DryRunProps {
  readonly transport: Transport;
  /** The text of the editor, saved or not. */
  readonly descriptor: string;
}

/** The sample that was sent, and what Laurel read in it. */
interface Ran {
  readonly descriptor: unknown;
  readonly sample: unknown;
  readonly answer: DryRunAnswer;
}

export function DryRun({ transport, descriptor }: DryRunProps): ReactNode {
  const { pathOf } = useProgram();
  const [sample, setSample] = useState(() => firstSample(transport));
  const [ran, setRan] = useState<Ran>();
  const change = useChange<DryRunAnswer>('post', pathOf('/integrations/dry-run'), []);
  const checkedDescriptor = checkDescriptor(descriptor);
  const checkedSample = checkJson(sample);
  const run = async (event: FormEvent) => {
    event.preventDefault();
    if (checkedDescriptor.error !== undefined || checkedSample.error !== undefined) return;
    setRan(undefined);
    const body = `{"transport":"${transport}","descriptor":${descriptor},"sample":${sample}}`;
    const answer = await change.run(new JsonText(body));
    if (answer !== undefined) setRan({ descriptor: checkedDescriptor.value, sample: checkedSample.value, answer });
  };
  return (
    <form className="form" onSubmit={(event) => void run(event)}>
      <TextField
        label={transport === 'pull_poll' ? 'A page as it would be fetched' : 'A body as your server would send it'}
        value={sample}
        onChange={(event) => setSample(event.target.value)}
        error={checkedSample.error}
        spellCheck={false}
        rows={8}
      />
      <FailureLine failure={change.failure} />
      <div>
        <Button
          type="submit"
          disabled={checkedDescriptor.error !== undefined || checkedSample.error !== undefined}
          isBusy={change.isRunning}
        >
          Run dry
        </Button>
      </div>
      <div role="status">{ran !== undefined && <Result ran={ran} />}</div>
    </form>
  );
}

function Result({ ran }: { readonly ran: Ran }): ReactNode {
  const { records, records_failure: recordsFailure, next_page: nextPage } = ran.answer;
  return (
    <div className="dry-run">
      {recordsFailure !== null && <Failed ran={ran} failure={recordsFailure} title="The records were not found" />}
      {recordsFailure === null && records.length === 0 && <p>The list has no records: an empty page.</p>}
      {records.map(({ index, status, read, failure }) => (
        <article key={index} aria-label={`Record ${index}`}>
          <h3>
            Record {index}{' '}
            <Status value={status} tone={status === 'read' ? 'good' : status === 'failed' ? 'bad' : 'neutral'} />
          </h3>
          {read !== null && <Code text={JSON.stringify(read, null, 2)} label={`What record ${index} would report`} />}
          {status === 'ignored' && <p className="muted">The descriptor leaves it out: `when` does not hold.</p>}
          {failure !== null && <Failed ran={ran} failure={failure} record={index} />}
        </article>
      ))}
      {nextPage !== null && (
        <>
          <h3>The next page would be requested</h3>
          <Code text={JSON.stringify(nextPage, null, 2)} label="The next page" />
        </>
      )}
    </div>
  );
}

interface FailedProps {
  readonly ran: Ran;
  readonly failure: PointerFailure;
  readonly record?: number;
  readonly title?: string;
}

function Failed({ ran, failure, record, title }: FailedProps): ReactNode {
  const { pointer, field, message } = failure;
  return (
    <>
      {title !== undefined && <h3>{title}</h3>}
      <p>
        <code>{field}</code> points to <code>{pointer === '' ? '"" (the whole)' : pointer}</code>, which {message}.
      </p>
      <div className="columns">
        <MarkedJson label="In the descriptor" value={ran.descriptor} mark={placeInDescriptor(failure)} note={field} />
        <MarkedJson
          label="In the sample"
          value={ran.sample}
          mark={placeInSample(ran.descriptor, ran.sample, failure, record)}
          note={`${pointer} ${message}`}
        />
      </div>
    </>
  );
}
