/** An example of a body, in OpenAPI's form. A test checks each against its schema. */
export type Example = { readonly summary: string; readonly value: unknown };
export type Examples = Readonly<Record<string, Example>>;

/**
 * The examples of one route: its request body, if it takes one, and the body of its success, if
 * any.
 */
export interface RouteExamples {
  readonly request?: Examples | undefined;
  readonly response?: Examples | undefined;
}

/** A single example, which needs no name of its own. */
export function singleExample(summary: string, value: unknown): Examples {
  return { example: { summary, value } };
}
