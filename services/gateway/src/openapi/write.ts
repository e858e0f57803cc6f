/** Writes both documents to `docs/openapi/`: `node services/gateway/src/openapi/write.ts`. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { stringify } from 'yaml';
import type { OpenApiDocument } from './normalize.ts';
import { partnerDocument } from './partner-document.ts';
import { portalDocument } from './portal-document.ts';

const directory = new URL('../../../../docs/openapi/', import.meta.url);
mkdirSync(directory, { recursive: true });

function write(file: string, source: string, document: OpenApiDocument): void {
  const header = `# Derived from the schemas in services/gateway/src/routes/${source}. Do not edit.\n`;
  writeFileSync(new URL(file, directory), header + stringify(document, { lineWidth: 120 }));
}

write('partner-v1.yaml', 'v1', partnerDocument());
write('portal-api.yaml', '{operator,portal,sandbox}', portalDocument());
