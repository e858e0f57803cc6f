import { join } from 'node:path';
import { isNatsUser, type ServiceName } from '@laurel/topology';
import { keepIdentities } from './identities.ts';
import { StartFailure } from './start-failure.ts';

/** The credentials of the services for each other and for NATS; see `identities.ts`. */
export interface InternalChannels {
  readonly natsConfigurationFile: string;
  /** The environment that a service gets besides its own settings. */
  readonly environmentOf: (service: ServiceName) => Readonly<Record<string, string>>;
}

/**
 * With LAUREL_INTERNAL_TLS=on the services of a data directory use TLS, with certificates of its
 * own authority. Without it they accept every process that reaches the ports of this machine.
 * In either case NATS has a user for each service. A NATS that the environment names (NATS_URL) has
 * its own users.
 */
export async function internalChannels(options: {
  readonly dataDir: string;
  readonly natsPort: number;
  readonly environment: NodeJS.ProcessEnv;
}): Promise<InternalChannels> {
  const { dataDir, natsPort, environment } = options;
  const tls = isOn(environment.LAUREL_INTERNAL_TLS);
  const { filesOf, natsConfigurationFile, natsPasswords } = await keepIdentities({
    folder: join(dataDir, 'identities'),
    nats: { hosts: ['localhost', '127.0.0.1'], prefix: environment.EVENTS_PREFIX || 'laurel', tls },
  });

  const channelOf = (service: ServiceName): Record<string, string> => {
    if (!tls) return {};
    const { certificate, key, ca } = filesOf(service);
    return { GRPC_TLS_CERT_FILE: certificate, GRPC_TLS_KEY_FILE: key, GRPC_TLS_CA_FILE: ca };
  };
  const brokerOf = (service: ServiceName): Record<string, string> => {
    if (!isNatsUser(service) || environment.NATS_URL) return {};
    const url = { NATS_URL: `nats://${service}:${natsPasswords[service]}@127.0.0.1:${natsPort}` };
    return tls ? { ...url, NATS_CA_FILE: filesOf(service).ca } : url;
  };
  return {
    natsConfigurationFile,
    environmentOf: (service) => ({ ...channelOf(service), ...brokerOf(service) }),
  };
}

/**
 * Returns whether TLS is on. Off by default: on one machine TLS costs a fifth of the flows a second
 * (decision 15), and other processes of the same user can read the keys anyway.
 */
function isOn(setting = ''): boolean {
  if (setting === 'on') return true;
  if (setting === '' || setting === 'off') return false;
  throw new StartFailure(`LAUREL_INTERNAL_TLS must be on or off, and is "${setting}".`);
}
