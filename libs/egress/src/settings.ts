/** Settings of every service that calls untrusted URLs. */
import { Resolver } from 'node:dns';
import { readFileSync } from 'node:fs';
import { type Cidrs, parseCidrs } from '@laurel/untrusted-url';
import { z } from 'zod';
import type { EgressOptions } from './egress.ts';
import { createNameLookup } from './name-lookup.ts';
import { createUrlCheck, type UrlCheck } from './url-check.ts';

const cidrs = z.string().transform((text, context): Cidrs => {
  try {
    return parseCidrs(text);
  } catch {
    context.addIssue('must be networks like 10.0.0.0/8, comma-separated');
    return z.NEVER;
  }
});

const pemFile = z.string().transform((path, context): string => {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    context.addIssue('must be a file that can be read');
    return z.NEVER;
  }
});

const dnsServers = z.string().transform((text, context): string[] => {
  const servers = text.split(',').map((server) => server.trim());
  try {
    new Resolver().setServers(servers);
    return servers;
  } catch {
    context.addIssue('must be addresses like 10.0.0.53 or 10.0.0.53:5353, comma-separated');
    return z.NEVER;
  }
});

export const egressSettings = {
  /** Networks that are not public but that calls may reach. */
  EGRESS_ALLOW_CIDRS: cidrs.prefault(''),
  /** A PEM file of certificates that are trusted in addition to the system's. */
  EGRESS_CA_FILE: pemFile.optional(),
  /** The system's by default. */
  EGRESS_DNS_SERVERS: dnsServers.optional(),
};

type EgressSettings = z.output<z.ZodObject<typeof egressSettings>>;

/** The options of `createEgress` that a service's settings describe. */
export function egressOptionsOf(settings: EgressSettings): Pick<EgressOptions, 'allowCidrs' | 'ca' | 'dnsServers'> {
  return {
    allowCidrs: settings.EGRESS_ALLOW_CIDRS,
    ca: settings.EGRESS_CA_FILE,
    dnsServers: settings.EGRESS_DNS_SERVERS,
  };
}

/** The check of a URL before it is saved, by the same rules as the calls. */
export function urlCheckOf(settings: EgressSettings): UrlCheck {
  return createUrlCheck({
    resolve: createNameLookup(settings.EGRESS_DNS_SERVERS),
    allow: settings.EGRESS_ALLOW_CIDRS,
  });
}
