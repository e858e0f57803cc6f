/**
 * `/openapi.json` for `/v1`, `/api/openapi.json` for the routes under `/api`, both from the routes
 * that this process runs; and the documentation site at `/docs`.
 */
import { Router } from 'express';
import { contextOf } from '../http/context.ts';
import { SECURITY_HEADERS } from '../http/security-headers.ts';
import { documentationSite } from './documentation-site.ts';
import { createDocuments, type OpenApiDocuments } from './documents.ts';

/** `siteFolder` holds the built site; without one `/docs` is an unknown path. */
export function documentationRouter(siteFolder: string | undefined): Router {
  const router = Router({ caseSensitive: true, strict: true });
  const documents = createDocuments();
  const serve = (path: string, document: keyof OpenApiDocuments) => {
    router.get(path, async (_request, response) => {
      contextOf(response).routeTemplate = path;
      const { [document]: json } = await documents();
      response.writeHead(200, { ...SECURITY_HEADERS, 'Content-Type': 'application/json; charset=utf-8' }).end(json);
    });
  };
  serve('/openapi.json', 'partner');
  serve('/api/openapi.json', 'portal');
  if (siteFolder !== undefined) router.use(documentationSite(siteFolder));
  return router;
}
