/** What the portal is built from. */
import { fileURLToPath } from 'node:url';
import type { BuiltFolder } from '@laurel/docs-site/built-folder';

export const PORTAL: BuiltFolder = {
  name: 'the developer portal',
  base: fileURLToPath(new URL('.', import.meta.url)),
  inputs: ['*.{html,json,ts}', 'src/**/*.{ts,tsx,css,svg}', '../../libs/sdk/src/**/*.ts', '../../package-lock.json'],
  dist: fileURLToPath(new URL('./dist', import.meta.url)),
  script: fileURLToPath(new URL('./build.ts', import.meta.url)),
};
