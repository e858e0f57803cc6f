export interface Subject {
  readonly kind: string;
  readonly id: string;
}

/** Reads `program:0198...`; undefined for an action without a subject. */
export function readSubject(subject: string | null): Subject | undefined {
  const [, kind, id] = /^(.+):([^:]+)$/.exec(subject ?? '') ?? [];
  return kind === undefined || id === undefined ? undefined : { kind, id };
}
