/**
 * The two OpenAPI documents of the routes that this process runs, as JSON. A separate thread writes
 * them at the first request. Building them takes 0.3 s, in which this thread could not answer other
 * requests. Most processes never serve the documents.
 */
import { once } from 'node:events';
import { Worker } from 'node:worker_threads';

export interface OpenApiDocuments {
  /** The document of `/v1`. */
  readonly partner: string;
  /** The document of the routes under `/api`. */
  readonly portal: string;
}

/**
 * Resolves with the same documents each time. If the thread fails, the next call starts another
 * one.
 */
export function createDocuments(): () => Promise<OpenApiDocuments> {
  let documents: Promise<OpenApiDocuments> | undefined;
  return () => {
    documents ??= write().catch((error: unknown) => {
      documents = undefined;
      throw error;
    });
    return documents;
  };
}

async function write(): Promise<OpenApiDocuments> {
  const worker = new Worker(new URL('./write-documents.worker.ts', import.meta.url));
  const [documents] = await once(worker, 'message');
  return documents;
}
