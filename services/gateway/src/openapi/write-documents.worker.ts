/** The thread that documents.ts starts. It posts both documents as JSON. */
import { parentPort } from 'node:worker_threads';
import type { OpenApiDocuments } from './documents.ts';
import { partnerDocument } from './partner-document.ts';
import { portalDocument } from './portal-document.ts';

const documents: OpenApiDocuments = {
  partner: JSON.stringify(partnerDocument()),
  portal: JSON.stringify(portalDocument()),
};
parentPort?.postMessage(documents);
