/** `/openapi.json` for `/v1`, `/api/openapi.json` for our own routes, and `/docs`, from the routes that this process runs, and the guides below, from the contract's pages: each rendered once. */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { type RequestHandler, Router } from 'express';
import { contextOf } from '../http/context.ts';
import { SECURITY_HEADERS } from '../http/security-headers.ts';
import { guidePage } from './guide-page.ts';
import { partnerDocument } from './partner-document.ts';
import type { OpenApiDocument } from './polish.ts';
import { portalDocument } from './portal-document.ts';
import { referencePage, STYLE } from './reference-page.ts';

const GUIDE = new URL('../../../../docs/contract/partner-api.md', import.meta.url);
const DESCRIPTORS = new URL('../../../../docs/contract/integrations.md', import.meta.url);

export function documentationRouter(): Router {
  const document = partnerDocument();
  // Allows the one style sheet, which is part of each page, and nothing else.
  const styleHash = createHash('sha256').update(STYLE).digest('base64');
  const policy = `style-src 'sha256-${styleHash}'; ${SECURITY_HEADERS['Content-Security-Policy']}`;
  const router = Router();

  const serve = (path: string, served: OpenApiDocument) => {
    const json = JSON.stringify(served);
    router.get(path, (_request, response) => {
      contextOf(response).routeTemplate = path;
      response.writeHead(200, { ...SECURITY_HEADERS, 'Content-Type': 'application/json; charset=utf-8' }).end(json);
    });
  };
  serve('/openapi.json', document);
  serve('/api/openapi.json', portalDocument());

  const page = (path: string, html: string): RequestHandler => {
    return (_request, response) => {
      contextOf(response).routeTemplate = path;
      response
        .writeHead(200, {
          ...SECURITY_HEADERS,
          'Content-Type': 'text/html; charset=utf-8',
          'Content-Security-Policy': policy,
        })
        .end(html);
    };
  };
  router.get('/docs', page('/docs', referencePage(document)));
  router.get('/docs/guide', page('/docs/guide', guidePage(readFileSync(GUIDE, 'utf8'))));
  const descriptors = guidePage(readFileSync(DESCRIPTORS, 'utf8'), 'Descriptors of integrations');
  router.get('/docs/integrations', page('/docs/integrations', descriptors));

  return router;
}
