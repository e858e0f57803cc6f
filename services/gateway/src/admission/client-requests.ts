/**
 * Many clients share the connections of a trusted proxy. There each client address is limited by
 * its requests in flight. It may have as many of these as it could have connections without a
 * proxy. Requests beyond the limit are shed before any content is read.
 */
import type { Request, RequestHandler } from 'express';
import { networkOf } from '../domain/client-network.ts';
import { ShedError } from '../http/shed-error.ts';

/** The client address already has as many requests in flight as it may have. */
export class ClientLimitError extends ShedError {
  constructor() {
    super('one client address has too many requests in flight');
    this.name = 'ClientLimitError';
  }
}

export function limitClientRequests(options: {
  readonly maxPerAddress: number;
  readonly isProxy: (address: string) => boolean;
  readonly addressOf: (request: Request) => string;
}): RequestHandler {
  const { maxPerAddress, isProxy, addressOf } = options;
  const inFlight = new Map<string, number>();

  return (request, response, next) => {
    // Without a proxy, `connections.ts` counts the client's connections instead.
    if (!isProxy(request.socket.remoteAddress ?? '')) return next();
    const network = networkOf(addressOf(request));
    const requests = (inFlight.get(network) ?? 0) + 1;
    if (requests > maxPerAddress) return next(new ClientLimitError());
    inFlight.set(network, requests);
    response.on('close', () => {
      const left = (inFlight.get(network) ?? 1) - 1;
      if (left === 0) inFlight.delete(network);
      else inFlight.set(network, left);
    });
    next();
  };
}
