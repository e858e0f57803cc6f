/** GetMoney: what programs charged, returned, paid, held and denied on UTC days. */
import { parseEnvironment, parseId } from '@laurel/grpc';
import type { Database } from '@laurel/postgres';
import { Environment } from '@laurel/proto/common';
import { ENVIRONMENTS } from '@laurel/proto/enum-names';
import type { GetMoneyRequest, GetMoneyResponse, MoneySums as WireSums } from '@laurel/proto/wallet';
import { cents } from '@laurel/values/money';
import {
  findCountedAt,
  listDays,
  listProgramSums,
  type MoneySums,
  sumHeldNow,
  sumKept,
} from '../repository/program-days.ts';

const NOTHING: MoneySums = {
  feesCents: cents(0n),
  refundsCents: cents(0n),
  paidCents: cents(0n),
  heldCents: cents(0n),
  deniedCents: cents(0n),
};

export function getMoney({ database }: { database: Database }) {
  return async (request: GetMoneyRequest): Promise<GetMoneyResponse> => {
    const environment = request.environment === Environment.UNSPECIFIED ? null : parseEnvironment(request.environment);
    const programId = request.programId === undefined ? null : parseId(request.programId);
    const beforeProgramId = request.beforeProgramId === undefined ? null : parseId(request.beforeProgramId);
    const filter = { from: request.from, to: request.to, environment, programId };
    const [programs, days, kept, heldNow, countedAt] = await Promise.all([
      listProgramSums(database, filter, { beforeProgramId, limit: request.limit }),
      listDays(database, filter),
      sumKept(database, filter),
      sumHeldNow(database, filter),
      findCountedAt(database),
    ]);
    return {
      programs: programs.map((one) => ({
        tenant: { programId: one.programId, environment: ENVIRONMENTS[one.environment] },
        sums: presentSums(one),
      })),
      environments: (environment === null ? (['test', 'live'] as const) : [environment]).map((name) => ({
        environment: ENVIRONMENTS[name],
        sums: presentSums(days.filter((one) => one.environment === name).reduce(add, NOTHING)),
        keptCents: kept.get(name) ?? 0n,
        heldNowCents: heldNow.get(name) ?? 0n,
      })),
      days: days.map((one) => ({ day: one.day, environment: ENVIRONMENTS[one.environment], sums: presentSums(one) })),
      countedAt: countedAt ?? undefined,
    };
  };
}

function add(one: MoneySums, other: MoneySums): MoneySums {
  return {
    feesCents: cents(one.feesCents + other.feesCents),
    refundsCents: cents(one.refundsCents + other.refundsCents),
    paidCents: cents(one.paidCents + other.paidCents),
    heldCents: cents(one.heldCents + other.heldCents),
    deniedCents: cents(one.deniedCents + other.deniedCents),
  };
}

function presentSums({ feesCents, refundsCents, paidCents, heldCents, deniedCents }: MoneySums): WireSums {
  return { feesCents, refundsCents, paidCents, heldCents, deniedCents };
}
