/**
 * Serves the built pages of the developer portal (apps/portal) below `/portal`. One page holds them
 * all: its script reads the address.
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Router } from 'express';
import { builtFiles, siteHeaders } from '../http/built-site.ts';
import { contextOf } from '../http/context.ts';

/** Where `npm start` and the image put the built pages. */
export const PORTAL_FOLDER = fileURLToPath(new URL('../../../../apps/portal/dist', import.meta.url));

const PAGE = 'index.html';
const ROUTE = '/portal/{page}';

/** What a page could ask a browser for, and the portal never does. Copying is not among them. */
const UNUSED_FEATURES = [
  ...['accelerometer', 'autoplay', 'camera', 'display-capture', 'encrypted-media', 'fullscreen', 'geolocation'],
  ...['gyroscope', 'magnetometer', 'microphone', 'midi', 'payment', 'picture-in-picture'],
  ...['publickey-credentials-get', 'screen-wake-lock', 'usb', 'xr-spatial-tracking'],
];

const HEADERS = {
  ...siteHeaders("'self'", ["require-trusted-types-for 'script'"]),
  'Permissions-Policy': UNUSED_FEATURES.map((feature) => `${feature}=()`).join(', '),
};

/** A file that does not exist in the folder of the assets is an unknown path. */
export function portalPages(folder: string): Router {
  const router = Router({ caseSensitive: true, strict: true });
  router.use('/portal', builtFiles(folder, ROUTE, HEADERS));
  router.get(['/portal', '/portal/*path'], (request, response, next) => {
    if (request.path.startsWith('/portal/assets/') || !existsSync(join(folder, PAGE))) return next();
    contextOf(response).routeTemplate = ROUTE;
    response.sendFile(PAGE, { root: folder, headers: HEADERS, lastModified: false, cacheControl: false });
  });
  return router;
}
