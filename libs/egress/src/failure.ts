/**
 * Why there is no response, as a kind and a fixed sentence. The developer who gave the untrusted
 * URL sees both, so neither has the socket's error. The socket's error would reveal which ports are
 * closed and which filtered, and would distinguish the hosts behind one name.
 */

export type EgressErrorKind =
  /** The name has no address, or its servers do not answer. */
  | 'dns'
  /** The URL or one of its addresses is not public. */
  | 'blocked'
  /** No TCP connection was made. */
  | 'connect'
  /** No TLS connection, or the certificate was not accepted. */
  | 'tls'
  /** The timeout passed before the head of a response arrived. */
  | 'timeout'
  /** The bytes received are not an HTTP/1.1 response, or the connection ended before one. */
  | 'protocol'
  /** The caller cancelled, or this process is stopping. */
  | 'aborted';

const MESSAGES: Record<EgressErrorKind, string> = {
  dns: 'The host name could not be resolved.',
  blocked: 'The host is not a public address.',
  connect: 'No connection could be made.',
  tls: 'No TLS connection could be made.',
  timeout: 'No answer came in time.',
  protocol: 'The connection ended without a valid HTTP answer.',
  aborted: 'The request was given up.',
};

/** What the owner of a receiver must know to repair it, by the codes of OpenSSL and Node. */
const CERTIFICATE_MESSAGES: Readonly<Record<string, string>> = {
  CERT_HAS_EXPIRED: 'The certificate has expired.',
  CERT_NOT_YET_VALID: 'The certificate is not valid yet.',
  INVALID_PURPOSE: 'The certificate is not one of a server.',
  ERR_TLS_CERT_ALTNAME_INVALID: 'The certificate is for another host name.',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'The certificate is not signed by a trusted authority.',
  SELF_SIGNED_CERT_IN_CHAIN: 'The certificate is not signed by a trusted authority.',
  UNABLE_TO_GET_ISSUER_CERT: 'The certificate is not signed by a trusted authority.',
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: 'The certificate is not signed by a trusted authority.',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'The certificate is not signed by a trusted authority.',
};

/** The failure of a connection inside undici, which passes it to the waiting requests. */
export class EgressFailure extends Error {
  override readonly name = 'EgressFailure';
  readonly kind: EgressErrorKind;

  /** A failure without a message has the kind's sentence. */
  constructor(kind: EgressErrorKind, message: string = MESSAGES[kind]) {
    super(message);
    this.kind = kind;
  }
}

/** The failure of a handshake that ended with this error. */
export function tlsFailure(error: unknown): EgressFailure {
  return new EgressFailure('tls', CERTIFICATE_MESSAGES[codeOf(error)]);
}

/** The failure for undici's error that ended a request. */
export function failureOf(error: unknown): EgressFailure {
  if (error instanceof EgressFailure) return error;
  const code = codeOf(error);
  if (code === 'UND_ERR_DESTROYED' || code === 'UND_ERR_CLOSED') return new EgressFailure('aborted');
  // A server can refuse a client after the handshake, for example for lack of a client certificate.
  if (code.startsWith('ERR_SSL_')) return new EgressFailure('tls');
  return new EgressFailure('protocol');
}

/** Whether undici refused the caller's request as invalid, before anything was sent. */
export function isInvalidRequest(error: unknown): boolean {
  return codeOf(error) === 'UND_ERR_INVALID_ARG';
}

function codeOf(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  return typeof code === 'string' ? code : '';
}
