/**
 * Identifies the caller of an rpc. A certificate names its service in a URI of the subject's
 * alternative names, `spiffe://laurel/<service>`. Host names and addresses play no part, so that
 * one certificate serves every replica.
 *
 * - A certificate of the trusted authority that names no Laurel service, or several, belongs to an
 *   unknown caller, which may only check health.
 * - A channel without certificates (a test, or a stack that turned them off) cannot distinguish
 *   callers, and accepts every call.
 */
import { SERVICE_NAMES, type ServiceName } from '@laurel/topology';

/** A caller is undefined on a channel without certificates. */
export type Caller = ServiceName | 'unknown' | undefined;

/**
 * The callers that a service accepts: for all of its rpcs, or for each one. A new rpc does not
 * compile until it is listed.
 */
export type AcceptedCallers<Service> =
  | readonly ServiceName[]
  | { readonly [Rpc in keyof Service]: readonly ServiceName[] };

/** The caller may not make this call. Nothing was done. */
export class CallNotPermittedError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'CallNotPermittedError';
  }
}

const URI_PREFIX = 'URI:spiffe://laurel/';

/**
 * The service that the alternative names of a verified certificate identify. The names are in
 * Node's notation.
 */
export function serviceOfNames(subjectAltName: string | undefined): ServiceName | 'unknown' {
  // Node quotes a name that holds a separator, so that it cannot pass for several; no service has
  // such a name.
  if (subjectAltName === undefined || subjectAltName.includes('"')) return 'unknown';
  const uris = subjectAltName.split(', ').filter((name) => name.startsWith('URI:'));
  const [uri] = uris;
  if (uri === undefined || uris.length > 1 || !uri.startsWith(URI_PREFIX)) return 'unknown';
  const name = uri.slice(URI_PREFIX.length);
  return SERVICE_NAMES.find((service) => service === name) ?? 'unknown';
}

/** The part of a grpc-js call that this file reads. */
type AuthenticatedCall = {
  getAuthContext(): { readonly sslPeerCertificate?: { readonly subjectaltname?: string | undefined } };
};

/** How a server identifies the caller of a call. */
export type ReadCaller = (call: AuthenticatedCall) => Caller;

/** Reads no caller, for a server without certificates. */
export const readNoCaller: ReadCaller = () => undefined;

/**
 * Reads the caller on a server with certificates. Reading one takes 24 us, so hot calls share a
 * stream that reads it once (multiplexer-server.ts).
 */
export const readCaller: ReadCaller = (call) =>
  serviceOfNames(call.getAuthContext().sslPeerCertificate?.subjectaltname);
