/** What the documentation site is built from. */
import { fileURLToPath } from 'node:url';
import type { BuiltFolder } from './built-folder.ts';

export const SITE_FOLDER: BuiltFolder = {
  name: 'the documentation site',
  base: fileURLToPath(new URL('../', import.meta.url)),
  inputs: [
    'contract/{partner-api,integrations,quick-start}.md',
    'openapi/partner-v1.yaml',
    'portal/{README.md,*.png}',
    'samples/{README.md,*/*.{py,go,cs,java,php,rb,mjs}}',
    'site/{*.ts,package.json}',
    'site/{reference,theme}/*.{ts,css}',
  ],
  dist: fileURLToPath(new URL('./dist', import.meta.url)),
  script: fileURLToPath(new URL('./build.ts', import.meta.url)),
};
