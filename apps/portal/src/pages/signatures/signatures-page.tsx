import { Link } from '@tanstack/react-router';
import { type ReactNode, useEffect, useState } from 'react';
import { Button } from '../../kit/button.tsx';
import { TextField } from '../../kit/field.tsx';
import { Id } from '../../kit/id.tsx';
import { Page } from '../../kit/page.tsx';
import { useProgram } from '../../layout/program.tsx';
import { type HandedOver, takeHandedOver } from './handover.ts';
import './signatures.css';
import { judgeWebhook, type Verdict } from './verdict.ts';
import { VerdictView } from './verdict-view.tsx';

/** Keeps the browser from storing these fields, and from sending them to a spelling check. */
const LEAVES_NO_TRACE = { autoComplete: 'off', autoCorrect: 'off', autoCapitalize: 'off', spellCheck: false } as const;

export function SignaturesPage(): ReactNode {
  const [delivery, setDelivery] = useState(takeHandedOver);
  const [body, setBody] = useState(delivery?.body ?? '');
  const [headers, setHeaders] = useState('');
  const [secrets, setSecrets] = useState('');
  const verdict = useVerdict({ body, headers, secrets, sentBody: delivery?.body });
  useEffect(() => {
    // The browser may keep a page that was left, and show it again.
    const forget = () => setSecrets('');
    window.addEventListener('pagehide', forget);
    return () => window.removeEventListener('pagehide', forget);
  }, []);
  const clear = () => {
    setDelivery(undefined);
    setBody('');
    setHeaders('');
    setSecrets('');
  };
  return (
    <Page title="Signatures" actions={<Button onClick={clear}>Clear</Button>}>
      <p>
        Why is a webhook refused? Paste what your server got. The check runs in this browser: nothing is sent or stored,
        and it is forgotten when you leave the page.
      </p>
      {delivery !== undefined && <FromDelivery delivery={delivery} />}
      <div className="columns">
        <div className="form">
          <TextField
            {...LEAVES_NO_TRACE}
            label="Body"
            hint="The raw body, byte for byte, before anything has parsed it."
            value={body}
            onChange={({ target }) => setBody(target.value)}
          />
          <TextField
            {...LEAVES_NO_TRACE}
            label="Headers"
            hint="All headers of the request as lines, curl or JSON; or the value of the signature alone."
            placeholder="X-Webhook-Signature: sha256=…"
            value={headers}
            onChange={({ target }) => setHeaders(target.value)}
          />
          <TextField
            {...LEAVES_NO_TRACE}
            label="Signing secret"
            hint="As on your server, with whsec_; several in lines of their own."
            data-private="true"
            value={secrets}
            onChange={({ target }) => setSecrets(target.value)}
          />
        </div>
        <VerdictView verdict={verdict} />
      </div>
    </Page>
  );
}

function FromDelivery({ delivery: { deliveryId, endpointId } }: { readonly delivery: HandedOver }): ReactNode {
  const { programId, environment } = useProgram();
  return (
    <p>
      The body is of the delivery{' '}
      <Id value={deliveryId} what="delivery">
        <Link to="/p/$programId/$environment/deliveries/$deliveryId" params={{ programId, environment, deliveryId }}>
          {deliveryId}
        </Link>
      </Id>
      , as Laurel sent it. Add the headers that your server got, and the secret of{' '}
      <Link to="/p/$programId/$environment/webhooks/$endpointId" params={{ programId, environment, endpointId }}>
        its endpoint
      </Link>
      . Paste the body that your server has verified over it to see whether the two differ.
    </p>
  );
}

/** Judges the webhook again with each change. Undefined until the first verdict is there. */
function useVerdict({ body, headers, secrets, sentBody }: Parameters<typeof judgeWebhook>[0]): Verdict | undefined {
  const [verdict, setVerdict] = useState<Verdict>();
  useEffect(() => {
    let isCurrent = true;
    void judgeWebhook({ body, headers, secrets, sentBody }, Date.now()).then((next) => isCurrent && setVerdict(next));
    return () => {
      isCurrent = false;
    };
  }, [body, headers, secrets, sentBody]);
  return verdict;
}
