import { z } from 'zod';
import {
  channelSettings,
  databaseRoleSettings,
  grpcPort,
  logLevel,
  port,
  spanSeconds,
  tracingSettings,
} from './config.ts';

/** Settings that every service has. */
export const processSettings = {
  LOG_LEVEL: logLevel.default('info'),
  ...tracingSettings,
  ...channelSettings,
  /** Probes and metrics; only the cluster may reach it. */
  ADMIN_HOST: z.string().default('127.0.0.1'),
  /** 0 takes any free port. */
  ADMIN_PORT: port.default(0),
  ...databaseRoleSettings,
};

export type ProcessSettings = z.output<z.ZodObject<typeof processSettings>>;

/** Settings of every service that others call. */
export const grpcServiceSettings = {
  ...processSettings,
  GRPC_HOST: z.string().default('127.0.0.1'),
  GRPC_PORT: grpcPort,
};

export type GrpcServiceSettings = z.output<z.ZodObject<typeof grpcServiceSettings>>;

/** Settings of every service that audits its own rows continuously. */
export const auditSettings = {
  /** The time from the end of one audit run to the start of the next. */
  AUDIT_INTERVAL_SECONDS: spanSeconds.default(600),
};
