// A partner's server as a worker: it serves `createPlayerHandler`, and at `/verify` the
// verification of the posted body. Each request carries its settings, from which the worker makes
// its client.
import { createPlayerHandler, Laurel } from '@laurel/sdk';
import { verify } from './verifications.mjs';

export default {
  async fetch(request, { LAUREL_API_KEY: apiKey, LAUREL_BASE_URL: baseUrl }) {
    if (new URL(request.url).pathname === '/verify') return Response.json(await verify(await request.json()));
    const handler = createPlayerHandler({
      laurel: new Laurel({ apiKey, baseUrl }),
      authenticate: ({ headers }) => headers.get('x-player'),
    });
    return handler(request);
  },
};
