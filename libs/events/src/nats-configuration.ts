/**
 * The configuration of a nats-server that carries Laurel's events: one user for each service that
 * connects, which may use only the subjects that it needs.
 *
 * - A contest service may publish its own events, receive their acknowledgements, and read the
 *   state of the stream and its consumers.
 * - The webhook service may create the stream and its one durable consumer, consume from it, and
 *   acknowledge events to their owners. It may publish no event.
 * - No service may delete or purge the stream, read single messages, or create another consumer. An
 *   `operator`, if there is one, may.
 * - Replies to a user's requests, and messages of the stream, arrive on subjects to which only that
 *   user may subscribe.
 *
 * NATS refuses everything else. Valid for nats-server 2.9 and later.
 */
import { NATS_USERS, type NatsUser } from '@laurel/topology';
import { inboxPrefixOf } from './connection.ts';

type Permissions = { readonly publish: readonly string[]; readonly subscribe: readonly string[] };

/** The name of the durable consumer of the webhook service. */
const DURABLE = 'webhook';

/** What each user may do with the streams of this prefix; `*` stands for every prefix. */
export function natsPermissions(prefix: string): Record<NatsUser, Permissions> {
  const stream = prefix.toUpperCase();
  const look = [`$JS.API.STREAM.INFO.${stream}`, `$JS.API.CONSUMER.LIST.${stream}`];
  const owner = (name: 'challenge' | 'tournament'): Permissions => ({
    publish: [`${prefix}.test.${name}.>`, `${prefix}.live.${name}.>`, ...look],
    subscribe: [`${prefix}.acknowledged.${name}`, `${inboxPrefixOf(name)}.>`],
  });
  return {
    challenge: owner('challenge'),
    tournament: owner('tournament'),
    webhook: {
      publish: [
        `${prefix}.acknowledged.*`,
        ...look,
        `$JS.API.STREAM.CREATE.${stream}`,
        `$JS.API.STREAM.UPDATE.${stream}`,
        `$JS.API.CONSUMER.INFO.${stream}.${DURABLE}`,
        // Versions of client and server decide which of the two requests creates a durable
        // consumer.
        `$JS.API.CONSUMER.DURABLE.CREATE.${stream}.${DURABLE}`,
        `$JS.API.CONSUMER.CREATE.${stream}.${DURABLE}`,
        `$JS.API.CONSUMER.MSG.NEXT.${stream}.${DURABLE}`,
        `$JS.ACK.${stream}.${DURABLE}.>`,
        // The acknowledgement subjects of a server with a JetStream domain begin with the domain
        // and the account.
        `$JS.ACK.*.*.${stream}.${DURABLE}.>`,
      ],
      subscribe: [`${inboxPrefixOf('webhook')}.>`],
    },
  };
}

export type NatsConfiguration = {
  /** The prefix of the stack's events; `*` if stacks with different prefixes share the server. */
  readonly prefix: string;
  /**
   * The passwords, one for each user. The `operator`, who may do everything, exists only with a
   * password.
   */
  readonly passwords: Readonly<Record<NatsUser, string>> & { readonly operator?: string };
  /** Paths of PEM files on the server. Without them connections are not encrypted. */
  readonly tls?: { readonly certificate: string; readonly key: string } | undefined;
  /**
   * `host:port` of the unauthenticated monitoring endpoint, which shows the server's health and
   * much else; off by default.
   */
  readonly monitoring?: string;
  /**
   * The most bytes that the server stores on disk. It refuses more at once, and the events wait in
   * the outboxes. By default three quarters of the free space.
   */
  readonly maxStoreBytes?: number;
};

/**
 * The file for `nats-server --config`. The command line may set addresses and the store instead.
 */
export function natsConfiguration(configuration: NatsConfiguration): string {
  const { prefix, passwords, tls, monitoring, maxStoreBytes } = configuration;
  const permissions = natsPermissions(prefix);
  const users = NATS_USERS.map((user) => ({
    user,
    password: passwords[user],
    permissions: allowOnly(permissions[user]),
  }));
  const { operator } = passwords;
  const operators = operator === undefined ? [] : [{ user: 'operator', password: operator }];
  // The format accepts JSON, which escapes any character of a password or path.
  return `${JSON.stringify(
    {
      authorization: { users: [...users, ...operators] },
      ...(monitoring !== undefined && { http: monitoring }),
      ...(maxStoreBytes !== undefined && { jetstream: { max_file_store: maxStoreBytes } }),
      ...(tls && { tls: { cert_file: tls.certificate, key_file: tls.key } }),
    },
    null,
    2,
  )}\n`;
}

function allowOnly({ publish, subscribe }: Permissions) {
  return { publish: { allow: publish }, subscribe: { allow: subscribe } };
}
