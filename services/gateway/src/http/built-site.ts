/**
 * Serves a folder of built pages, such as the documentation site or the developer portal. Each
 * request reads the folder, so a site that is built after the start is served too.
 */
import { join, sep } from 'node:path';
import express, { type Handler } from 'express';
import { contextOf } from './context.ts';
import { SECURITY_HEADERS } from './security-headers.ts';

export type SiteHeaders = Readonly<Record<string, string>>;

/** The policy allows only files of this origin, and nothing inline; `extra` adds to the policy. */
export function siteHeaders(formAction: "'none'" | "'self'", extra: readonly string[] = []): SiteHeaders {
  const policy = [
    "default-src 'self'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self' data:",
    "connect-src 'self'",
    "object-src 'none'",
    "base-uri 'none'",
    `form-action ${formAction}`,
    "frame-ancestors 'none'",
    ...extra,
  ];
  return {
    ...SECURITY_HEADERS,
    'Content-Security-Policy': policy.join('; '),
    'Cross-Origin-Opener-Policy': 'same-origin',
    'Cross-Origin-Resource-Policy': 'same-origin',
    // `no-cache`: browsers revalidate.
    'Cache-Control': 'no-cache',
  };
}

/** In this folder, each file's name contains the hash of its bytes. */
const ASSETS = 'assets';
const IMMUTABLE = 'public, max-age=31536000, immutable';

/** Serves the files of the folder. A request for anything else goes to the next handler. */
export function builtFiles(folder: string, routeTemplate: string, headers: SiteHeaders): Handler {
  const assets = join(folder, ASSETS) + sep;
  return express.static(folder, {
    extensions: ['html'],
    redirect: false,
    lastModified: false,
    cacheControl: false,
    setHeaders: (response, file) => {
      contextOf(response).routeTemplate = routeTemplate;
      for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
      if (file.startsWith(assets)) response.setHeader('Cache-Control', IMMUTABLE);
    },
  });
}
