import { parseAllDocuments } from 'yaml';

/** An object of the Kubernetes API, as it is sent. */
export interface Manifest {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string };
  readonly [field: string]: unknown;
}

/**
 * The objects of a text with several YAML documents. Throws on a syntax error, and on a document
 * without kind, version or name.
 */
export function parseManifests(text: string): readonly Manifest[] {
  return parseAllDocuments(text).map((document) => {
    const [error] = document.errors;
    if (error !== undefined) throw error;
    const object: unknown = document.toJS();
    if (!isManifest(object)) throw new Error(`not a Kubernetes object: ${JSON.stringify(object)?.slice(0, 200)}`);
    return object;
  });
}

function isManifest(value: unknown): value is Manifest {
  const { apiVersion, kind, metadata } = (value ?? {}) as Partial<Manifest>;
  return [apiVersion, kind, metadata?.name].every((text) => typeof text === 'string');
}

/** Returns, for example, `Deployment wallet`. */
export function titleOf({ kind, metadata }: Manifest): string {
  return `${kind} ${metadata.name}`;
}
