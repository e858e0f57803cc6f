/** An example of a body, as OpenAPI has it: a test checks each against its schema. */
export type Example = { readonly summary: string; readonly value: unknown };
export type Examples = Readonly<Record<string, Example>>;

/** Of a route: what is sent, where it takes a body, and what a success answers, where it has one. */
export interface RouteExamples {
  readonly request?: Examples | undefined;
  readonly response?: Examples | undefined;
}

/** One example, which needs no name of its own. */
export function only(summary: string, value: unknown): Examples {
  return { example: { summary, value } };
}
