// A partner's server as a worker: it serves `createPlayerHandler`. A client of its own for each request, because a worker may not await in one
// request what another one began.
import { createPlayerHandler, Laurel } from '@laurel/sdk';

export default {
  fetch(request, { LAUREL_API_KEY: apiKey, LAUREL_URL: baseUrl }) {
    const handler = createPlayerHandler({
      laurel: new Laurel({ apiKey, baseUrl }),
      authenticate: ({ headers }) => headers.get('x-player'),
    });
    return handler(request);
  },
};
