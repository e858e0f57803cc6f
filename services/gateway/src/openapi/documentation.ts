/** `/openapi.json`, from the routes that this process runs, and the documentation site at `/docs`. */
import { Router } from 'express';
import { contextOf } from '../http/context.ts';
import { SECURITY_HEADERS } from '../http/security-headers.ts';
import { documentationSite } from './documentation-site.ts';
import { partnerDocument } from './partner-document.ts';

/** `siteFolder` holds the built site; without one `/docs` is an unknown path. */
export function documentationRouter(siteFolder: string | undefined): Router {
  const json = JSON.stringify(partnerDocument());
  const router = Router({ caseSensitive: true, strict: true });
  router.get('/openapi.json', (_request, response) => {
    contextOf(response).routeTemplate = '/openapi.json';
    response.writeHead(200, { ...SECURITY_HEADERS, 'Content-Type': 'application/json; charset=utf-8' }).end(json);
  });
  if (siteFolder !== undefined) router.use(documentationSite(siteFolder));
  return router;
}
