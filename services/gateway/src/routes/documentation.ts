/** `/openapi.json` and `/docs`: both rendered once, from the routes that this process runs. */
import { Router } from 'express';
import { contextOf } from '../middleware/context.ts';
import { referencePage } from '../openapi/reference-page.ts';
import { partnerDocument } from '../openapi/registry.ts';

export function documentationRouter(): Router {
  const document = partnerDocument();
  const json = JSON.stringify(document);
  const html = referencePage(document);
  const router = Router();

  router.get('/openapi.json', (_request, response) => {
    contextOf(response).routeTemplate = '/openapi.json';
    response.writeHead(200, { 'Content-Type': 'application/json; charset=utf-8' }).end(json);
  });

  router.get('/docs', (_request, response) => {
    contextOf(response).routeTemplate = '/docs';
    response
      .writeHead(200, {
        'Content-Type': 'text/html; charset=utf-8',
        'Content-Security-Policy': "default-src 'none'; style-src 'unsafe-inline'",
      })
      .end(html);
  });

  return router;
}
