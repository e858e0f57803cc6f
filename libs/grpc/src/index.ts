/**
 * gRPC between the services: serve, call, and carry refusals as values. `error-mapping.ts` has the
 * rules for errors.
 */
export { type AcceptedCallers, type Caller, CallNotPermittedError } from './caller.ts';
export { type ChannelIdentity, type IdentityFiles, identityOf, openChannelIdentity } from './channel-identity.ts';
export {
  type CallOptions,
  type Channels,
  type ClientConstructor,
  type ClientOptions,
  createClient,
  joinServices,
  openChannel,
  type TypedClient,
} from './client.ts';
export { createCoalescedCall } from './coalesced-call.ts';
export type { Definition } from './definition.ts';
export { CallFailedError, UnavailableError } from './error-mapping.ts';
export { type Handlers, implement, type RpcContext, type ServiceImplementation } from './implement.ts';
export { createInProcessChannels, IN_PROCESS, type InProcessChannel } from './in-process.ts';
export { parseEnvironment, parseId, parseItems, parseTenant, presentTenant } from './parse.ts';
export { type GrpcServer, startGrpcServer } from './server.ts';
export { MAX_DEADLINE_MS, MAX_ITEMS, MAX_MULTIPLEXED_BYTES } from './wire.ts';
