/**
 * The standard health service, for the server as a whole. Its code is generated like that of
 * Laurel's services: `grpc-health-check` reads a `.proto` file at each start, for which it loads
 * protobuf.js.
 */
import { type ServerWritableStream, status } from '@grpc/grpc-js';
import {
  type HealthCheckRequest,
  type HealthCheckResponse,
  type HealthServer,
  HealthService,
  HealthCheckResponse_ServingStatus as ServingStatus,
} from '@laurel/proto/health';

/** The name by which the service asks for the server as a whole. */
const WHOLE_SERVER = '';

type Watch = ServerWritableStream<HealthCheckRequest, HealthCheckResponse>;

export type Health = {
  readonly definition: HealthService;
  readonly implementation: HealthServer;
  /** Sends the new status to every client that watches, and responds to later calls with it. */
  setServing(isServing: boolean): void;
};

/** Starts out serving. */
export function createHealth(): Health {
  const watches = new Set<Watch>();
  let current: HealthCheckResponse = { status: ServingStatus.SERVING };
  return {
    definition: HealthService,
    implementation: {
      check({ request: { service } }, callback) {
        if (service === WHOLE_SERVER) callback(null, current);
        else callback({ code: status.NOT_FOUND, details: 'only the health of the whole server is known' });
      },
      watch(stream) {
        if (stream.request.service !== WHOLE_SERVER) {
          stream.write({ status: ServingStatus.SERVICE_UNKNOWN });
          return;
        }
        watches.add(stream);
        stream.on('cancelled', () => watches.delete(stream));
        stream.write(current);
      },
      list(_call, callback) {
        callback(null, { statuses: { [WHOLE_SERVER]: current } });
      },
    },
    setServing(isServing) {
      current = { status: isServing ? ServingStatus.SERVING : ServingStatus.NOT_SERVING };
      for (const stream of watches) stream.write(current);
    },
  };
}
