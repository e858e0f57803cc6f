/** Calls the standard gRPC health check of a service, or looks for it in this process. */
import { Client } from '@grpc/grpc-js';
import { type Channels, IN_PROCESS, openChannel } from '@laurel/grpc';
import type { ServiceName } from '@laurel/topology';

const CHECK = '/grpc.health.v1.Health/Check';
/** HealthCheckRequest without a service name: the health of the server as a whole. */
const WHOLE_SERVER = Buffer.alloc(0);
/** HealthCheckResponse { status: SERVING }: field 1, varint 1. */
const SERVING = Buffer.from([0x08, 0x01]);
const DEADLINE_MS = 1_000;

export interface HealthProbe extends AsyncDisposable {
  readonly service: ServiceName;
  isServing(): Promise<boolean>;
}

export function connectHealth(service: ServiceName, address: string, { identity, inProcess }: Channels): HealthProbe {
  if (address === IN_PROCESS) {
    return {
      service,
      isServing: async () => inProcess?.isServing(service) ?? false,
      async [Symbol.asyncDispose]() {},
    };
  }
  const client = openChannel(Client, { name: service, address, identity });
  return {
    service,
    isServing: () =>
      new Promise((resolve) => {
        const asIs = (bytes: Buffer) => bytes;
        const deadline = Date.now() + DEADLINE_MS;
        client.makeUnaryRequest(CHECK, asIs, asIs, WHOLE_SERVER, { deadline }, (error, status) => {
          resolve(error === null && status !== undefined && SERVING.equals(status));
        });
      }),
    async [Symbol.asyncDispose]() {
      client.close();
    },
  };
}
