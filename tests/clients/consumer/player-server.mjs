// A partner's server on any runtime: it serves `createPlayerHandler` on a free port, which it
// prints. Its one argument is JSON: {baseUrl, apiKey}.
import { createPlayerHandler, Laurel, toNodeListener } from '@laurel/sdk';

const { baseUrl, apiKey } = JSON.parse(process.argv.at(-1));
const handler = createPlayerHandler({
  laurel: new Laurel({ apiKey, baseUrl }),
  authenticate: (request) => request.headers.get('x-player'),
});
const place = { hostname: '127.0.0.1', port: 0 };

if (globalThis.Bun !== undefined) {
  console.log(Bun.serve({ ...place, fetch: handler }).port);
} else if (globalThis.Deno !== undefined) {
  console.log(Deno.serve({ ...place, onListen: () => {} }, handler).addr.port);
} else {
  const { createServer } = await import('node:http');
  const server = createServer(toNodeListener(handler));
  server.listen(place.port, place.hostname, () => console.log(server.address().port));
}
