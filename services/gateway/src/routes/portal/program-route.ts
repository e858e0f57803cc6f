/**
 * Routes below `/programs/{programId}` of the portal, called by the developer of that program.
 * Another developer's program is not found, as if it did not exist, and the route does not run.
 * Only the request itself is checked before that.
 */
import { type ApiErrorCode, isRefused } from '@laurel/errors';
import type { Database } from '@laurel/postgres';
import type { Route } from '../../http/route.ts';
import { z } from '../../http/zod.ts';
import { findProgramOf, type Program } from '../../repository/programs.ts';
import { pathId } from '../fields.ts';
import { definePortalRoute } from './route.ts';

/** The signed-in developer, and the program in the path, which is theirs. */
export interface ProgramCaller {
  readonly developerId: string;
  readonly program: Program;
}

type Shape = Readonly<Record<string, z.ZodType>>;

/**
 * A route below a program. Its path and its parameters are written without those of the program.
 */
type ProgramRoute<Dependencies, Params extends Shape, Query, Body> = Omit<
  Route<ProgramCaller, Dependencies, ApiErrorCode, z.output<z.ZodObject<Params>>, Query, Body>,
  'params'
> & { readonly params?: Params };

export function defineProgramRoute<Dependencies, Params extends Shape = Shape, Query = unknown, Body = unknown>({
  path,
  params,
  run,
  ...route
}: ProgramRoute<Dependencies, Params, Query, Body>) {
  const inPath = z.object({ programId: pathId, ...params });
  return definePortalRoute({
    ...route,
    path: `/programs/{programId}${path}`,
    params: inPath as unknown as z.ZodType<z.output<z.ZodObject<Params>> & { readonly programId: string }>,
    run: async (call, dependencies: Dependencies & { readonly database: Database }) => {
      const { developerId } = call.caller;
      const program = await findProgramOf(dependencies.database, { programId: call.params.programId, developerId });
      return isRefused(program) ? program : run({ ...call, caller: { developerId, program } }, dependencies);
    },
  });
}
