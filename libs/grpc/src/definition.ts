/**
 * The part that this package reads of what ts-proto generates for a service (`XServiceService`).
 * Every Laurel rpc is unary.
 */
import type { MethodDefinition, ServiceDefinition } from '@grpc/grpc-js';

// biome-ignore lint/suspicious/noExplicitAny: request and response types are inferred from the concrete definition.
export type UnaryMethod = MethodDefinition<any, any>;

export type Definition = { readonly [rpc: string]: UnaryMethod } & ServiceDefinition;

export type RequestOf<Method> = Method extends { readonly requestDeserialize: (bytes: Buffer) => infer Request }
  ? Request
  : never;

export type ResponseOf<Method> = Method extends { readonly responseDeserialize: (bytes: Buffer) => infer Response }
  ? Response
  : never;

/** The part of a logger that this package needs. */
export type RpcLogger = {
  error(fields: object, message: string): void;
  warn(fields: object, message: string): void;
};
