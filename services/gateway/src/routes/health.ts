/** `/healthz`: the process lives. `/readyz`: it can serve. `/metrics`: Prometheus text. */

import type { Database } from '@laurel/postgres';
import { metrics } from '@laurel/telemetry';
import { type Response, Router } from 'express';
import type { HealthProbe } from '../clients/health.ts';
import { contextOf } from '../middleware/context.ts';

const TEXT_TYPE = 'text/plain; charset=utf-8';

export function healthRouter(probes: {
  database: Database;
  services: Readonly<Record<string, HealthProbe>>;
  isDraining: () => boolean;
}): Router {
  const router = Router();

  router.get('/healthz', (_request, response) => {
    openProbe(response, '/healthz');
    response.writeHead(200, { 'Content-Type': TEXT_TYPE }).end('ok');
  });

  router.get('/readyz', async (_request, response) => {
    openProbe(response, '/readyz');
    const checks = await Promise.all([
      probes.database.isReachable().then((ok) => ['database', ok] as const),
      ...Object.entries(probes.services).map(async ([name, probe]) => [name, await probe.isServing()] as const),
    ]);
    const missing = checks.filter(([, ok]) => !ok).map(([name]) => name);
    if (probes.isDraining()) missing.push('draining');
    const isReady = missing.length === 0;
    response
      .writeHead(isReady ? 200 : 503, { 'Content-Type': TEXT_TYPE, 'Cache-Control': 'no-store' })
      .end(isReady ? 'ready' : `not ready: ${missing.join(', ')}`);
  });

  router.get('/metrics', async (_request, response) => {
    openProbe(response, '/metrics');
    const text = await metrics.metrics();
    response.writeHead(200, { 'Content-Type': metrics.contentType }).end(text);
  });

  return router;
}

function openProbe(response: Response, routeTemplate: string): void {
  const context = contextOf(response);
  context.routeTemplate = routeTemplate;
  context.isProbe = true;
}
