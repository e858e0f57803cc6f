/** Serves the built documentation site (docs/site) below `/docs`. */
import { fileURLToPath } from 'node:url';
import { Router } from 'express';
import { builtFiles, siteHeaders } from '../http/built-site.ts';
import { contextOf } from '../http/context.ts';

/** Where `npm start` and the image put the built site. */
export const SITE_FOLDER = fileURLToPath(new URL('../../../../docs/site/dist', import.meta.url));

const HEADERS = siteHeaders("'none'");

/** Serves the built documentation site. A file that does not exist is an unknown path. */
export function documentationSite(folder: string): Router {
  const router = Router({ caseSensitive: true, strict: true });
  router.get('/docs', (_request, response) => {
    contextOf(response).routeTemplate = '/docs';
    response.writeHead(308, { ...HEADERS, Location: '/docs/' }).end();
  });
  router.use('/docs', builtFiles(folder, '/docs/{page}', HEADERS));
  return router;
}
