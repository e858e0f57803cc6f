/**
 * Serves the built documentation site (docs/site) below `/docs`. Its policy allows only files of
 * this origin, and nothing inline.
 */
import { join, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import express, { Router } from 'express';
import { contextOf } from '../http/context.ts';
import { SECURITY_HEADERS } from '../http/security-headers.ts';

/** Where `npm start` and the image put the built site. */
export const SITE_FOLDER = fileURLToPath(new URL('../../../../docs/site/dist', import.meta.url));

const HEADERS = {
  ...SECURITY_HEADERS,
  'Content-Security-Policy': [
    "default-src 'self'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self' data:",
    "connect-src 'self'",
    "object-src 'none'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; '),
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Resource-Policy': 'same-origin',
  // `no-cache`: browsers revalidate.
  'Cache-Control': 'no-cache',
} as const;

/** In this folder, each file's name contains the hash of its bytes. */
const ASSETS = 'assets';
const IMMUTABLE = 'public, max-age=31536000, immutable';

/**
 * Reads the folder at each request, so a site that is built later is served from then on. A file
 * that does not exist is an unknown path.
 */
export function documentationSite(folder: string): Router {
  const router = Router({ caseSensitive: true, strict: true });
  router.get('/docs', (_request, response) => {
    contextOf(response).routeTemplate = '/docs';
    response.writeHead(308, { ...HEADERS, Location: '/docs/' }).end();
  });
  const assets = join(folder, ASSETS) + sep;
  const files = express.static(folder, {
    extensions: ['html'],
    redirect: false,
    lastModified: false,
    cacheControl: false,
    setHeaders: (response, file) => {
      contextOf(response).routeTemplate = '/docs/{page}';
      for (const [name, value] of Object.entries(HEADERS)) response.setHeader(name, value);
      if (file.startsWith(assets)) response.setHeader('Cache-Control', IMMUTABLE);
    },
  });
  router.use('/docs', files);
  return router;
}
