import type { ApiPromise } from '../api-promise.ts';
import type {
  CreatedIntegration,
  Integration,
  IntegrationChange,
  IntegrationList,
  IntegrationRequest,
  RotatedIntegration,
} from '../api-types.ts';
import { pathSegment } from '../arguments.ts';
import type { CallOptions, Send } from '../send.ts';

const LIST = { method: 'GET', template: '/v1/integrations', repetition: 'harmless' } as const;
const CREATE = { method: 'POST', template: '/v1/integrations', repetition: 'once' } as const;
const UPDATE = { method: 'PATCH', template: '/v1/integrations/{id}', repetition: 'harmless' } as const;
const ROTATE = { method: 'POST', template: '/v1/integrations/{id}/rotate-secret', repetition: 'once' } as const;
const RETIRE = {
  method: 'DELETE',
  template: '/v1/integrations/{id}/previous-secret',
  repetition: 'harmless',
} as const;

export class Integrations {
  readonly #send: Send;

  constructor(send: Send) {
    this.#send = send;
  }

  /** All integrations of the program, newest first. */
  list(options?: CallOptions): ApiPromise<IntegrationList> {
    return this.#send(LIST, () => ({ path: '/v1/integrations', options }));
  }

  /**
   * Creates an integration as a draft. For `push_webhook` only this response shows the signing
   * secret, so the call is not repeated after a lost response. After `network`, `timeout` or a 5xx,
   * look with `list` for a new integration, and rotate its secret.
   */
  create(body: IntegrationRequest, options?: CallOptions): ApiPromise<CreatedIntegration> {
    return this.#send(CREATE, () => ({ path: '/v1/integrations', body, options }));
  }

  /** Changes only the fields that are sent. */
  update(integrationId: string, body: IntegrationChange, options?: CallOptions): ApiPromise<Integration> {
    return this.#send(UPDATE, () => ({ path: pathOf(integrationId), body, options }));
  }

  /**
   * Issues a new signing secret, shown only now; the previous one verifies until it is retired. Not
   * repeated after a lost response: a second rotation would replace the secret in use.
   */
  rotateSecret(integrationId: string, options?: CallOptions): ApiPromise<RotatedIntegration> {
    return this.#send(ROTATE, () => ({ path: `${pathOf(integrationId)}/rotate-secret`, options }));
  }

  /** From now on only the current secret verifies. Without a previous one nothing changes. */
  retirePreviousSecret(integrationId: string, options?: CallOptions): ApiPromise<Integration> {
    return this.#send(RETIRE, () => ({ path: `${pathOf(integrationId)}/previous-secret`, options }));
  }
}

function pathOf(integrationId: string): string {
  return `/v1/integrations/${pathSegment('integrationId', integrationId)}`;
}
