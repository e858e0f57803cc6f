/**
 * The rpcs of AttemptService under the names that they have in each contest's own service in the
 * previous release. That release's gateway and integration service call them until they are
 * replaced.
 */
import { isRefused, type Refused } from '@laurel/errors';
import type { Handlers, RpcContext } from '@laurel/grpc';
import type {
  Attempt,
  AttemptCreation,
  AttemptServiceService,
  OpenAttemptQuery,
  OutcomeReport,
} from '@laurel/proto/attempts';

type Rpcs = Handlers<AttemptServiceService>;
type Previous<Item, Contest extends string> = Omit<Item, 'contestId'> & Record<Contest, string>;

/** `contest` is the field in which the contest's own service names the contest. */
export function previousRpcs<Contest extends 'challengeId' | 'roundId'>(attempts: Rpcs, contest: Contest) {
  const present = (attempt: Attempt) =>
    ({ ...attempt, [contest]: attempt.contestId }) as Attempt & Record<Contest, string>;
  const read = <Item>(item: Previous<Item, Contest>) => ({ ...item, contestId: item[contest] }) as unknown as Item;
  const presentOne = (answer: { readonly attempt: Attempt | undefined } | Refused) => {
    if (isRefused(answer)) return answer;
    return { attempt: answer.attempt === undefined ? undefined : present(answer.attempt) };
  };
  return {
    ...attempts,
    createAttempts: async (
      { creations }: { readonly creations: readonly Previous<AttemptCreation, Contest>[] },
      context: RpcContext,
    ) => {
      const answer = await attempts.createAttempts({ creations: creations.map(read<AttemptCreation>) }, context);
      if (isRefused(answer)) return answer;
      return {
        results: answer.results.map(({ result }) => ({
          result: result?.$case === 'attempt' ? { ...result, value: present(result.value) } : result,
        })),
      };
    },
    reportOutcomes: (
      {
        reports,
      }: {
        readonly reports: readonly (Omit<OutcomeReport, 'tiebreak'> & { readonly tiebreak?: number | undefined })[];
      },
      context: RpcContext,
    ) =>
      attempts.reportOutcomes(
        { reports: reports.map(({ tiebreak, ...report }) => ({ ...report, tiebreak })) },
        context,
      ),
    findOpenAttempts: (
      { queries }: { readonly queries: readonly Previous<OpenAttemptQuery, Contest>[] },
      context: RpcContext,
    ) => attempts.findOpenAttempts({ queries: queries.map(read<OpenAttemptQuery>) }, context),
    getAttempt: async (...call: Parameters<Rpcs['getAttempt']>) => presentOne(await attempts.getAttempt(...call)),
    inspectAttempt: async (...call: Parameters<Rpcs['inspectAttempt']>) =>
      presentOne(await attempts.inspectAttempt(...call)),
    voidAttempt: async (...call: Parameters<Rpcs['voidAttempt']>) => presentOne(await attempts.voidAttempt(...call)),
    expireAttempt: async (...call: Parameters<Rpcs['expireAttempt']>) =>
      presentOne(await attempts.expireAttempt(...call)),
  };
}
