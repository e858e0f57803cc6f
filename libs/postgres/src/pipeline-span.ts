/**
 * The span of a pipeline (OpenTelemetry's conventions for PostgreSQL). It has the statements, never
 * their values.
 */
import { errorTypeOf, type Span } from '@laurel/telemetry';
import pg, { type Client } from 'pg';
import type { Failure } from './pipeline.ts';
import type { Step } from './step.ts';

const MAX_NAME_LENGTH = 255;

export function beginPipelineSpan(parent: Span, { database, host }: Client, steps: readonly Step[]): Span {
  const summary = steps.map(nameOf).join(' ').slice(0, MAX_NAME_LENGTH);
  return parent.child('client', summary, {
    'db.system.name': 'postgresql',
    'db.query.summary': summary,
    'server.address': host,
    ...(database !== undefined && { 'db.namespace': database }),
    ...(steps.length > 1 && { 'db.operation.batch.size': steps.length }),
  });
}

export function endPipelineSpan(span: Span, failure: Failure | undefined): void {
  const error = failure?.error;
  if (error instanceof pg.DatabaseError && error.code !== undefined)
    span.set({ 'db.response.status_code': error.code });
  span.end(error && errorTypeOf(error));
}

/** The statement's name, or the first word of its text. */
function nameOf({ statement: { name, text } }: Step): string {
  return name ?? text.trimStart().split(/\s/, 1)[0] ?? '';
}
