/** The span attributes of a call, at both ends (OpenTelemetry's conventions for gRPC). */
import { status } from '@grpc/grpc-js';
import type { Refused } from '@laurel/errors';
import { errorTypeOf, type Span } from '@laurel/telemetry';

/** Returns, for example, `laurel.wallet.v1.WalletService/ChargeFees`. */
export function spanName(path: string): string {
  return path.slice(1);
}

export function rpcAttributes(path: string) {
  return { 'rpc.system.name': 'grpc', 'rpc.method': spanName(path) };
}

export function endAnswered(span: Span | undefined): void {
  end(span, status.OK);
}

/** An expected refusal is not a failure of the call. */
export function endRefused(span: Span | undefined, refusal: Refused): void {
  span?.set({ 'laurel.error_code': refusal.code });
  end(span, status.FAILED_PRECONDITION);
}

export function endFailed(span: Span | undefined, code: status | undefined, error: unknown): void {
  end(span, code, errorTypeOf(error));
}

function end(span: Span | undefined, code: status | undefined, failure?: string): void {
  if (span === undefined) return;
  if (code !== undefined) span.set({ 'rpc.response.status_code': status[code] });
  span.end(failure);
}
