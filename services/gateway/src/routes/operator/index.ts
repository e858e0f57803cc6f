/** The routes of `/api/operator`. */
import type { Clock } from '@laurel/service';
import type { Admission } from '../../admission/admission.ts';
import type { IntegrationClient } from '../../clients/integration.ts';
import type { WebhookClient } from '../../clients/webhook.ts';
import type { Peppers } from '../../domain/peppers.ts';
import type { Route } from '../../http/route.ts';
import type { ActionLog } from '../operator-log.ts';
import { listAccounts } from './account-list.ts';
import { changeAccount, createAccount, deposit, getAccount, getStatement } from './accounts.ts';
import { listActions } from './actions.ts';
import { getAttempt, listAttempts, voidAttempt } from './attempts.ts';
import { audit } from './audit.ts';
import { getCalibration } from './calibration.ts';
import { changeChallenge, createChallenge, getChallenge, getStatistics, listChallenges } from './challenges.ts';
import { createDeveloper, createSignInLink, listDevelopers } from './developers.ts';
import { getDrift } from './drift.ts';
import { addInsider, listInsiders, removeInsider } from './insiders.ts';
import { getMoney } from './money.ts';
import { denyPayout, getPayout, listPayouts, releasePayout } from './payouts.ts';
import { liftSeverance, listPlayerLinks, severPlayerLinks } from './player-links.ts';
import { changeProgramLimits, getProgramLimits } from './program-limits.ts';
import { approveProgram, changeProgram, createProgram, getProgram, listPrograms, replaceLiveKey } from './programs.ts';
import { getReceipt } from './receipts.ts';
import { search } from './search.ts';
import {
  cancelRound,
  changeTournament,
  createTournament,
  getRound,
  getTournament,
  listRounds,
  listStandings,
  listTournaments,
  openRound,
} from './tournaments.ts';

/** The dependencies of these routes and of the log of their changes. */
export interface OperatorServices extends ActionLog {
  readonly peppers: Peppers;
  readonly clock: Clock;
  readonly admission: Pick<Admission, 'revoke'>;
  readonly webhook: WebhookClient;
  readonly integration: IntegrationClient;
}

export const OPERATOR_ROUTES: readonly Route<string, OperatorServices>[] = [
  createDeveloper,
  listDevelopers,
  createSignInLink,
  createProgram,
  listPrograms,
  getProgram,
  approveProgram,
  replaceLiveKey,
  changeProgram,
  getProgramLimits,
  changeProgramLimits,
  getMoney,
  addInsider,
  listInsiders,
  removeInsider,
  createAccount,
  listAccounts,
  getAccount,
  changeAccount,
  deposit,
  listPlayerLinks,
  severPlayerLinks,
  liftSeverance,
  getStatement,
  createChallenge,
  listChallenges,
  getChallenge,
  changeChallenge,
  getStatistics,
  getCalibration,
  getDrift,
  createTournament,
  listTournaments,
  getTournament,
  changeTournament,
  openRound,
  listRounds,
  getRound,
  listStandings,
  cancelRound,
  listPayouts,
  getPayout,
  releasePayout,
  denyPayout,
  listAttempts,
  getAttempt,
  voidAttempt,
  getReceipt,
  audit,
  listActions,
  search,
];
