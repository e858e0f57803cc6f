/** gRPC between the services: serve, call, and carry refusals as values. The rules for errors are in `error-mapping.ts`. */
export {
  type CallOptions,
  type ClientOptions,
  createClient,
  type TypedClient,
} from './client.ts';
export { createCoalescedCall } from './coalesced-call.ts';
export { CallFailedError, UnavailableError } from './error-mapping.ts';
export { type Handlers, implement, type RpcContext, type ServiceImplementation } from './implement.ts';
export { parseEnvironment, parseId, parseItems, parseTenant } from './parse.ts';
export { type GrpcServer, startGrpcServer } from './server.ts';
