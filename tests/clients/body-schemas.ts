/**
 * The schemas of the bodies in an OpenAPI 3.1 document, by operation and place: `createAttempt
 * body`, `createAttempt 201`.
 */
import { Ajv2020 } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';

interface Body {
  readonly $ref?: string;
  readonly content?: object;
}

interface Operation {
  readonly operationId: string;
  readonly requestBody?: Body;
  readonly responses?: Readonly<Record<string, Body>>;
}

type PathItems = Readonly<Record<string, Readonly<Record<string, Operation>>>>;

/** The part of a document that describes bodies. */
export interface DescribedBodies {
  readonly paths: PathItems;
  readonly webhooks: PathItems;
}

export interface BodySchemas {
  /** The document's bodies that have or may have an example. */
  readonly names: readonly string[];
  /** The validation issues of a value; none if it fits. */
  issuesOf(name: string, value: unknown): readonly string[];
}

export function bodySchemas(document: DescribedBodies): BodySchemas {
  const ajv = new Ajv2020({ strict: false, allErrors: true });
  formats.default(ajv);
  ajv.addSchema({ $id: 'document', ...document });
  const pointers = new Map<string, string>();
  for (const section of ['paths', 'webhooks'] as const) {
    for (const [path, item] of Object.entries(document[section])) {
      for (const [method, operation] of Object.entries(item)) {
        const base = ['', section, path, method];
        const { operationId, requestBody, responses = {} } = operation;
        if (requestBody?.content !== undefined) pointers.set(`${operationId} body`, pointer([...base, 'requestBody']));
        if (section === 'webhooks') continue;
        for (const [status, { $ref, content }] of Object.entries(responses)) {
          const place = $ref?.replace('#', '').split('/') ?? (content && [...base, 'responses', status]);
          if (place !== undefined) pointers.set(`${operationId} ${status}`, pointer(place));
        }
      }
    }
  }
  return {
    names: [...pointers.keys()],
    issuesOf(name, value) {
      const validate = ajv.getSchema(`document#${pointers.get(name)}`);
      if (validate === undefined) return [`the document has no ${name}`];
      return validate(value)
        ? []
        : (validate.errors ?? []).map(({ instancePath, message }) => `${instancePath} ${message}`);
    },
  };
}

function pointer(names: readonly string[]): string {
  return [...names, 'content', 'application/json', 'schema']
    .map((name) => encodeURIComponent(name.replaceAll('~', '~0').replaceAll('/', '~1')))
    .join('/');
}
