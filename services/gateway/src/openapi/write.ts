/** Writes the partner's document to `docs/openapi/partner-v1.yaml`: `node services/gateway/src/openapi/write.ts`. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { stringify } from 'yaml';
import { partnerDocument } from './registry.ts';

const directory = new URL('../../../../docs/openapi/', import.meta.url);
const header = '# Derived from the schemas in services/gateway/src/routes/v1. Do not edit.\n';

mkdirSync(directory, { recursive: true });
writeFileSync(new URL('partner-v1.yaml', directory), header + stringify(partnerDocument(), { lineWidth: 120 }));
