/**
 * `<EndpointFields value={draft} onChange={setDraft} />`: the address, the events and the
 * description of a new or changed endpoint.
 */
import type { ReactNode } from 'react';
import type { WebhookEventType } from '../../api/api-types.ts';
import { Field } from '../../kit/field.tsx';
import { EVENT_TYPES } from '../events/search.ts';
import './webhooks.css';

export interface EndpointDraft {
  readonly url: string;
  readonly events: readonly WebhookEventType[];
  readonly description: string;
}

interface EndpointFieldsProps {
  readonly value: EndpointDraft;
  readonly onChange: (value: EndpointDraft) => void;
}

/** A test event is sent whatever an endpoint subscribes to. */
const SUBSCRIBABLE = EVENT_TYPES.filter((event) => event !== 'webhook.test');

export function EndpointFields({ value, onChange }: EndpointFieldsProps): ReactNode {
  const { url, events, description } = value;
  const toggle = (event: WebhookEventType) =>
    onChange({
      ...value,
      events: events.includes(event) ? events.filter((one) => one !== event) : [...events, event],
    });
  return (
    <>
      <Field
        label="URL"
        hint="A public https address, port 443 or any from 1024 up."
        type="url"
        required
        placeholder="https://example.com/webhooks"
        value={url}
        onChange={({ target }) => onChange({ ...value, url: target.value })}
      />
      <fieldset className="choices">
        <legend>Events</legend>
        <p className="hint">{events.length === 0 ? 'None chosen: it gets every event.' : 'It gets only these.'}</p>
        {SUBSCRIBABLE.map((event) => (
          <label key={event}>
            <input type="checkbox" checked={events.includes(event)} onChange={() => toggle(event)} />
            <code>{event}</code>
          </label>
        ))}
      </fieldset>
      <Field
        label="Description"
        hint="For you; it is not sent."
        value={description}
        onChange={({ target }) => onChange({ ...value, description: target.value })}
      />
    </>
  );
}
