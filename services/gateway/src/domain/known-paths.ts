/**
 * Which methods a path takes. A template's `{parameter}` matches any one segment that is not empty.
 */
export class KnownPaths {
  readonly #templates: ReadonlyMap<string, { readonly pattern: RegExp; readonly methods: readonly string[] }>;

  constructor(routes: readonly { readonly method: string; readonly path: string }[]) {
    const byPath = Map.groupBy(routes, ({ path }) => path);
    this.#templates = new Map(
      [...byPath].map(([path, methods]) => [
        path,
        { pattern: patternOf(path), methods: methods.flatMap(({ method }) => methodsAs(method.toUpperCase())) },
      ]),
    );
  }

  /** Returns an empty list for an unknown path. */
  methodsOf(path: string): readonly string[] {
    const found = new Set<string>();
    for (const { pattern, methods } of this.#templates.values()) {
      if (pattern.test(path)) for (const method of methods) found.add(method);
    }
    return [...found];
  }
}

/** A path that takes GET takes HEAD too. */
function methodsAs(method: string): readonly string[] {
  return method === 'GET' ? ['GET', 'HEAD'] : [method];
}

function patternOf(template: string): RegExp {
  const escaped = template.replace(/[.*+?^$()|[\]\\]/g, '\\$&');
  return new RegExp(`^${escaped.replace(/\{\w+\}/g, '[^/]+')}$`);
}
