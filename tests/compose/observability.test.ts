/**
 * The overlay of deploy/observability, as Docker Compose merges it with the stack. Its images are
 * not pulled.
 */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { CHECKOUT, SERVICES } from '@laurel/testing';
import { expect, test } from 'vitest';
import { openContainers } from './containers.ts';

interface Merged {
  readonly services: Readonly<Record<string, { readonly networks: object; readonly environment?: object }>>;
  readonly networks: Readonly<Record<string, { readonly internal?: boolean }>>;
}

test('the overlay lets Prometheus and the collector reach each service by a network that only they share', async () => {
  const [program, ...first] = openContainers().description.compose;
  const overlay = ['-f', `${CHECKOUT}deploy/observability/docker-compose.yml`, 'config', '--format', 'json'];
  const { stdout } = await promisify(execFile)(program, [...first, ...overlay], { cwd: CHECKOUT, maxBuffer: 2 ** 24 });
  const { services, networks }: Merged = JSON.parse(stdout);
  for (const service of SERVICES) {
    const network = `${service}-telemetry`;
    const members = Object.entries(services).filter(([, it]) => network in it.networks);
    expect(members.map(([name]) => name).sort()).toEqual(['collector', 'prometheus', service].sort());
    expect(networks[network]?.internal).toBe(true);
    expect(services[service]?.environment).toMatchObject({ OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector:4318' });
  }
});
