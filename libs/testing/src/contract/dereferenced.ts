/**
 * Returns the document with each reference to a shared response or parameter replaced by its
 * content, so that an operation can be read alone. Schemas stay references.
 */
export function dereferenced<Document extends { readonly components?: object }>(document: Document): Document {
  const { components } = document as { components?: Record<string, Record<string, unknown> | undefined> };
  const inPlace = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(inPlace);
    if (typeof value !== 'object' || value === null) return value;
    const [, kind = '', name = ''] =
      /^#\/components\/(responses|parameters)\/(.+)$/.exec('$ref' in value ? String(value.$ref) : '') ?? [];
    if (kind !== '') {
      const shared = components?.[kind]?.[name];
      if (shared === undefined) throw new Error(`the document has no ${kind} ${name}`);
      return inPlace(shared);
    }
    return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, inPlace(member)]));
  };
  return inPlace(document) as Document;
}
