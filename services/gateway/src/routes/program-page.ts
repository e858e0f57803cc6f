import { type Refused, refused } from '@laurel/errors';
import { isUuid } from '@laurel/ids';
import { presentProgram } from '../presenters/program.ts';
import type { Program } from '../repository/programs.ts';
import type { Answer } from './api-route.ts';
import { PAGE_LIMIT } from './fields.ts';

/** A page of programs, newest first; its cursor is the last program's id. */
export async function answerPrograms(
  query: { readonly cursor?: string | undefined; readonly limit?: number | undefined },
  list: (page: { beforeId: string | null; limit: number }) => Promise<Program[]>,
): Promise<Answer | Refused> {
  const { cursor, limit = PAGE_LIMIT } = query;
  if (cursor !== undefined && !isUuid(cursor)) return refused('invalid_request', 'cursor: is not one of ours');
  // One more than asked for, to know whether a next page exists.
  const found = await list({ beforeId: cursor ?? null, limit: limit + 1 });
  const programs = found.slice(0, limit);
  const nextCursor = found.length > limit ? (programs.at(-1)?.id ?? null) : null;
  return { status: 200, body: { data: programs.map(presentProgram), next_cursor: nextCursor } };
}
