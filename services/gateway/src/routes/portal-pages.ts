/**
 * Serves the built pages of apps/portal: the developer portal below `/portal`, the operator's pages
 * below `/operator`. Each of the two is one HTML file, whose script reads the address.
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Router } from 'express';
import { builtFiles, siteHeaders } from '../http/built-site.ts';
import { contextOf } from '../http/context.ts';

type Pages = 'portal' | 'operator';

/** Where `npm start` and the image put the built pages. */
export function builtFolderOf(pages: Pages): string {
  return fileURLToPath(new URL(`../../../../apps/portal/dist/${pages}`, import.meta.url));
}

const PAGE = 'index.html';

/**
 * Browser features that these pages never use, and that their policy forbids. Copying is not
 * listed, because the pages use it.
 */
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
export function servePages(pages: Pages, folder = builtFolderOf(pages)): Router {
  const path = `/${pages}`;
  const routeTemplate = `${path}/{page}`;
  const router = Router({ caseSensitive: true, strict: true });
  router.use(path, builtFiles(folder, routeTemplate, HEADERS));
  router.get([path, `${path}/*path`], (request, response, next) => {
    if (request.path.startsWith(`${path}/assets/`) || !existsSync(join(folder, PAGE))) return next();
    contextOf(response).routeTemplate = routeTemplate;
    response.sendFile(PAGE, { root: folder, headers: HEADERS, lastModified: false, cacheControl: false });
  });
  return router;
}
