/**
 * The configuration of a nats-server that carries our events: a user for each service that connects to it, with permissions for the
 * subjects that it needs and no others.
 *
 * - An owner may publish its own events, receive their acknowledgements, and read the state of the stream and its consumers.
 * - The webhook service may create the stream and its one durable consumer, consume from it, and acknowledge events to their owners. It may
 *   publish no event.
 * - No service may delete or purge the stream, read single messages of it, or create another consumer; an `operator`, if there is one, may.
 * - Answers to a user's requests, messages of the stream included, arrive on subjects to which only that user may subscribe.
 *
 * Everything else is refused. It holds for nats-server 2.9 and later.
 */
import { NATS_USERS, type NatsUser } from '@laurel/topology';
import { inboxPrefixOf } from './connection.ts';

type Permissions = { readonly publish: readonly string[]; readonly subscribe: readonly string[] };

/** The name of the durable consumer of the webhook service. */
const DURABLE = 'webhook';

/** What each user may do with the streams of this prefix; `*` for those of every prefix. */
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
        // Which of the two requests creates a durable consumer depends on the versions of client and server.
        `$JS.API.CONSUMER.DURABLE.CREATE.${stream}.${DURABLE}`,
        `$JS.API.CONSUMER.CREATE.${stream}.${DURABLE}`,
        `$JS.API.CONSUMER.MSG.NEXT.${stream}.${DURABLE}`,
        `$JS.ACK.${stream}.${DURABLE}.>`,
        // The subjects of acknowledgements on a server with a JetStream domain, which begin with the domain and the account.
        `$JS.ACK.*.*.${stream}.${DURABLE}.>`,
      ],
      subscribe: [`${inboxPrefixOf('webhook')}.>`],
    },
  };
}

export type NatsConfiguration = {
  /** The prefix of the stack's events; `*` where stacks with prefixes of their own share the server. */
  readonly prefix: string;
  /** One for each user. The `operator`, who may do everything, exists only with a password. */
  readonly passwords: Readonly<Record<NatsUser, string>> & { readonly operator?: string };
  /** Paths of PEM files, as the server sees them. Without them nothing is encrypted. */
  readonly tls?: { readonly certificate: string; readonly key: string } | undefined;
  /** `host:port` of the unauthenticated monitoring endpoint, which shows the server's health and much else; off unless given. */
  readonly monitoring?: string;
  /** Of its store on the disk: what does not fit is refused at once, and waits in the outboxes. By default three quarters of what is free. */
  readonly maxStoreBytes?: number;
};

/** The text of the file that `nats-server --config` reads. Its addresses and its store may be given on its command line. */
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
  // The format accepts JSON, which escapes any character of a password or a path.
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
