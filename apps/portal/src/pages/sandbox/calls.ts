/** The calls of the sandbox console: where each goes in the portal and in the partner API. */
import type { AttemptRequest, OutcomeRequest, SandboxPlayerRequest } from '../../api/api-types.ts';

export type SandboxCall =
  | { readonly kind: 'put-player'; readonly body: SandboxPlayerRequest }
  | { readonly kind: 'hold-next-award'; readonly playerRef: string }
  | { readonly kind: 'create-attempt'; readonly body: AttemptRequest; readonly idempotencyKey: string }
  | { readonly kind: 'report-outcome'; readonly attemptId: string; readonly body: OutcomeRequest }
  | { readonly kind: 'expire-attempt'; readonly attemptId: string }
  | { readonly kind: 'close-entries'; readonly roundId: string }
  | { readonly kind: 'close-round'; readonly roundId: string }
  | { readonly kind: 'retry-delivery'; readonly deliveryId: string };

/** Every call is a POST. */
export interface SandboxRequest {
  /** The path below the program's `/sandbox` in the portal's API. */
  readonly path: string;
  /** The path on Laurel's host, for a server with the test key. */
  readonly partnerPath: string;
  readonly body?: unknown;
  /** The key that a partner's server sends. The portal's own sandbox routes take none. */
  readonly idempotencyKey?: string;
}

export function requestOf(call: SandboxCall): SandboxRequest {
  switch (call.kind) {
    case 'put-player':
      return { ...inSandbox('/players'), body: call.body };
    case 'hold-next-award':
      return inSandbox(`/players/${encodeURIComponent(call.playerRef)}/hold-next-award`);
    case 'create-attempt':
      return { ...inV1('/attempts'), body: call.body, idempotencyKey: call.idempotencyKey };
    case 'report-outcome': {
      const idempotencyKey = `outcome-${call.attemptId}`;
      return { ...inV1(`/attempts/${call.attemptId}/outcome`), body: call.body, idempotencyKey };
    }
    case 'expire-attempt':
      return inSandbox(`/attempts/${call.attemptId}/expire`);
    case 'close-entries':
      return inSandbox(`/rounds/${call.roundId}/close-entries`);
    case 'close-round':
      return inSandbox(`/rounds/${call.roundId}/close`);
    case 'retry-delivery':
      return inSandbox(`/webhook-deliveries/${call.deliveryId}/retry-now`);
  }
}

export function titleOf(call: SandboxCall): string {
  switch (call.kind) {
    case 'put-player':
      return `Save the player ${call.body.player_ref}`;
    case 'hold-next-award':
      return `Hold the next award of ${call.playerRef}`;
    case 'create-attempt':
      return `Create an attempt of ${call.body.player_ref}`;
    case 'report-outcome':
      return `Report the score ${call.body.score}`;
    case 'expire-attempt':
      return 'Expire the attempt';
    case 'close-entries':
      return 'Close the entries of the round';
    case 'close-round':
      return 'Close the round';
    case 'retry-delivery':
      return 'Retry the delivery';
  }
}

function inSandbox(path: string) {
  return { path, partnerPath: `/api/sandbox${path}` };
}

function inV1(path: string) {
  return { path, partnerPath: `/v1${path}` };
}
