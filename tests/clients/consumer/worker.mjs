// A partner's server as a worker: it serves `createPlayerHandler`. Its settings come with each request, and so does the client that is made of them.
import { createPlayerHandler, Laurel } from '@laurel/sdk';

export default {
  fetch(request, { LAUREL_API_KEY: apiKey, LAUREL_BASE_URL: baseUrl }) {
    const handler = createPlayerHandler({
      laurel: new Laurel({ apiKey, baseUrl }),
      authenticate: ({ headers }) => headers.get('x-player'),
    });
    return handler(request);
  },
};
