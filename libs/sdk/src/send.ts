/** How a resource makes a call: what differs between operations, and nothing that all of them share. */
import { ApiPromise } from './api-promise.ts';
import { checkCallOptions, serialise } from './arguments.ts';
import type { Repetition } from './retry-policy.ts';
import type { Transport } from './transport.ts';

/** Options that every call takes. */
export interface CallOptions {
  /** Ends the call, also while it waits; it then rejects with the reason of the signal. Laurel may have acted all the same. */
  readonly signal?: AbortSignal | undefined;
}

/** Options of a call that moves money. */
export interface KeyedCallOptions extends CallOptions {
  /**
   * Names what is to happen once, in 1 to 255 printable ASCII characters: chosen and stored before the call, so that a process which died can
   * repeat it. Laurel keeps it for 24 hours from its first use; after that the same call is a new one, and takes effect again.
   */
  readonly idempotencyKey: string;
}

export interface Operation {
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  /** As in the OpenAPI documents: `/v1/attempts/{attempt_id}`. */
  readonly template: string;
  readonly repetition: Repetition;
  /** Its success is a 204, which has no body. */
  readonly noContent?: true;
}

export interface Arguments {
  readonly path: string;
  readonly body?: object | undefined;
  readonly idempotencyKey?: string | undefined;
  readonly options: CallOptions | undefined;
}

export type Send = <Body>(operation: Operation, prepare: () => Arguments) => ApiPromise<Body>;

/** `prepare` checks the arguments and throws a TypeError, which the promise of the call rejects with. */
export function createSend(transport: Transport): Send {
  return <Body>({ method, template, repetition, noContent }: Operation, prepare: () => Arguments) => {
    const start = async () => {
      const { path, body, idempotencyKey, options } = prepare();
      checkCallOptions(options);
      return transport.send<Body>({
        method,
        path,
        operation: `${method} ${template}`,
        repetition,
        noContent,
        body: body === undefined ? undefined : serialise(body),
        idempotencyKey,
        signal: options?.signal,
      });
    };
    return new ApiPromise(start());
  };
}
