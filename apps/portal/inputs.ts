/** What the developer portal and the operator's pages are built from. */
import { fileURLToPath } from 'node:url';
import type { BuiltFolder } from '@laurel/docs-site/built-folder';

export const PORTAL_FOLDER: BuiltFolder = {
  name: 'the developer portal and the operator pages',
  base: fileURLToPath(new URL('.', import.meta.url)),
  inputs: [
    '*.{html,json,ts}',
    'src/**/*.{ts,tsx,css,svg,html}',
    '../../libs/sdk/src/**/*.ts',
    '../../package-lock.json',
  ],
  dist: fileURLToPath(new URL('./dist', import.meta.url)),
  script: fileURLToPath(new URL('./build.ts', import.meta.url)),
};
