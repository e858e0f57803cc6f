/**
 * `/openapi.json` for `/v1`, `/api/openapi.json` for the routes under `/api`, both from the routes
 * that this process runs; and the documentation site at `/docs`.
 */
import { Router } from 'express';
import { contextOf } from '../http/context.ts';
import { SECURITY_HEADERS } from '../http/security-headers.ts';
import { documentationSite } from './documentation-site.ts';
import type { OpenApiDocument } from './normalize.ts';
import { partnerDocument } from './partner-document.ts';
import { portalDocument } from './portal-document.ts';

/** `siteFolder` holds the built site; without one `/docs` is an unknown path. */
export function documentationRouter(siteFolder: string | undefined): Router {
  const router = Router({ caseSensitive: true, strict: true });
  const serve = (path: string, document: OpenApiDocument) => {
    const json = JSON.stringify(document);
    router.get(path, (_request, response) => {
      contextOf(response).routeTemplate = path;
      response.writeHead(200, { ...SECURITY_HEADERS, 'Content-Type': 'application/json; charset=utf-8' }).end(json);
    });
  };
  serve('/openapi.json', partnerDocument());
  serve('/api/openapi.json', portalDocument());
  if (siteFolder !== undefined) router.use(documentationSite(siteFolder));
  return router;
}
