/**
 * The table of services. The stacks of `npm start` and of the tests, ports, addresses, certificates
 * and NATS users derive from it. `tests/security/adding-a-service.test.ts` and
 * `network-policies.test.ts` check docker-compose.yml and deploy/kubernetes against it. Start here
 * to add a service.
 */

/** The services, each after the services that it calls. */
export const SERVICE_NAMES = ['wallet', 'challenge', 'tournament', 'webhook', 'integration', 'gateway'] as const;

export type ServiceName = (typeof SERVICE_NAMES)[number];

export type ServiceShape = {
  /** The protocol by which others reach it: gRPC from inside, or HTTP from outside. */
  readonly serves: 'grpc' | 'http';
  /** The services that it calls. It gets the address of each as `<NAME>_ADDRESS`. */
  readonly calls: readonly ServiceName[];
  /** What it does with events as a user of NATS; null if it uses none. */
  readonly events: 'publishes' | 'takes' | null;
};

export const SERVICES = {
  wallet: { serves: 'grpc', calls: [], events: null },
  challenge: { serves: 'grpc', calls: ['wallet'], events: 'publishes' },
  tournament: { serves: 'grpc', calls: ['wallet'], events: 'publishes' },
  webhook: { serves: 'grpc', calls: [], events: 'takes' },
  integration: { serves: 'grpc', calls: ['challenge', 'tournament'], events: null },
  gateway: { serves: 'http', calls: ['wallet', 'challenge', 'tournament', 'webhook', 'integration'], events: null },
} as const satisfies Record<ServiceName, ServiceShape>;

/** The services that others call. */
export type CalledService = ServicesWith<'serves', 'grpc'>;

export function isCalled(name: ServiceName): name is CalledService {
  return SERVICES[name].serves === 'grpc';
}

/** The services that connect to NATS, each as the user of its name. */
export type NatsUser = ServicesWith<'events', string>;

type ServicesWith<Key extends keyof ServiceShape, Value> = {
  [Name in ServiceName]: (typeof SERVICES)[Name][Key] extends Value ? Name : never;
}[ServiceName];

export const NATS_USERS: readonly NatsUser[] = SERVICE_NAMES.filter(isNatsUser);

export function isNatsUser(name: string): name is NatsUser {
  return SERVICE_NAMES.some((known) => known === name && SERVICES[known].events !== null);
}

/** The variable with the URL of a service's database, as its running role. */
export function databaseVariableOf(name: ServiceName): string {
  return `${name.toUpperCase()}_DATABASE_URL`;
}

/** The variable with the URL of the same database as its owner, for migrations. */
export function migrationVariableOf(name: ServiceName): string {
  return `${name.toUpperCase()}_MIGRATION_DATABASE_URL`;
}

/** The variable with its URL as the role that deletes archived months. */
export function archiveVariableOf(name: ServiceName): string {
  return `${name.toUpperCase()}_ARCHIVE_DATABASE_URL`;
}

/** The addresses that a service gets, by variable. */
export function addressesFor(
  name: ServiceName,
  addressOf: (called: CalledService) => string,
): Readonly<Record<string, string>> {
  // Does not compile for a service without gRPC, which nobody can call.
  const calls: readonly CalledService[] = SERVICES[name].calls;
  return Object.fromEntries(calls.map((called) => [`${called.toUpperCase()}_ADDRESS`, addressOf(called)]));
}

/** Makes one value for each service. */
export function byService<Value>(make: (name: ServiceName) => Value): Readonly<Record<ServiceName, Value>> {
  return {
    wallet: make('wallet'),
    challenge: make('challenge'),
    tournament: make('tournament'),
    webhook: make('webhook'),
    integration: make('integration'),
    gateway: make('gateway'),
  };
}
