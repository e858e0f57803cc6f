/** The process around the handlers: its readiness. */
import { expect, it } from 'vitest';
import { useHarness } from './integration.fixture.ts';

const h = useHarness();

it('the integration service is ready while its database is reachable, even without the contest services', async () => {
  const readiness = await fetch(`http://127.0.0.1:${h.server.adminPort}/readyz`);
  expect([readiness.status, await readiness.text()]).toEqual([200, 'ready']);
});
