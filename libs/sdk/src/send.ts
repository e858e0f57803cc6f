/** How a resource makes a call. The resource states only what differs between operations. */
import { ApiPromise } from './api-promise.ts';
import { checkCallOptions, serialise } from './arguments.ts';
import type { RepeatEffect } from './retry-policy.ts';
import type { Transport } from './transport.ts';

/** Options that every call takes. */
export interface CallOptions {
  /**
   * Ends the call, even while it waits: the call rejects with the signal's reason. Laurel may still
   * have acted.
   */
  readonly signal?: AbortSignal | undefined;
}

/** Options of a call that moves money. */
export interface KeyedCallOptions extends CallOptions {
  /**
   * Names what must happen once, in 1 to 255 printable ASCII characters. Choose and store it before
   * the call, so that a process that died can repeat the call. Laurel keeps it for 24 hours from
   * its first use; later the same call is new and takes effect again.
   */
  readonly idempotencyKey: string;
}

export interface Operation {
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  /** The path in the OpenAPI documents: `/v1/attempts/{attempt_id}`. */
  readonly template: string;
  readonly repetition: RepeatEffect;
  /** Set if a success is a 204, which has no body. */
  readonly noContent?: true;
}

export interface Arguments {
  readonly path: string;
  readonly body?: object | undefined;
  readonly idempotencyKey?: string | undefined;
  readonly options: CallOptions | undefined;
}

export type Send = <Body>(operation: Operation, prepare: () => Arguments) => ApiPromise<Body>;

/** `prepare` checks the arguments. If it throws a TypeError, the call's promise rejects with it. */
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
