export { archiveAttempts } from './archive-attempts.ts';
export { archiveRounds } from './archive-rounds.ts';
export { constraintAccepts, isExactBound } from './check-constraint.ts';
export { CHECKOUT, NODE, SERVICES, type Service } from './checkout.ts';
export { createTestClock, type TestClock } from './clock.ts';
export * from './collector.ts';
export { configIssuesOf } from './config-issues.ts';
export { created, recorded, unmatchedEvents, verdictOf, violationsOf } from './contest-results.ts';
export { countsOf, tally } from './counts.ts';
export {
  DESCRIBED_STACK_VARIABLE,
  type JoinableStack,
  openDescribedStack,
  type StackDescription,
} from './described-stack.ts';
export { findingMessage } from './finding.ts';
export { freePorts } from './free-ports.ts';
export * from './http-client.ts';
export * from './integrations.ts';
export { isRunning, removeLeftovers } from './leftovers.ts';
export { measureStages, measureStagesByEnvironment } from './measure-stages.ts';
export { NATS_URL_VARIABLE, natsUrl, startNats, type TestNats, urlForUser } from './nats.ts';
export { createDatabaseBefore, type OlderDatabase } from './older-database.ts';
export * from './operator.ts';
export { OPERATOR_CHANGES, type OperatorChange } from './operator-changes.ts';
export { createPartner, type Partner } from './partner.ts';
export * from './portal.ts';
export { startPostgres } from './postgres.ts';
export * from './receiver.ts';
export { connectTo, createQuietLogger, createReadLogger } from './replica.ts';
export { readmeIssues } from './service-readme.ts';
export { retentionIssues } from './service-retention.ts';
export { type SignedReceipt, verdictOnReceipt } from './signed-receipts.ts';
export { endsOfReplacedKeys, SIGNED_RECEIPTS } from './signing-key-periods.ts';
export * from './stack.ts';
export type { StackDatabase } from './stack-databases.ts';
export type { FailpointAction } from './stack-failpoints.ts';
export { testSettings } from './stack-settings.ts';
export { createTestDatabase, type TestDatabase } from './test-database.ts';
export {
  EMPTY_ACCOUNT_UPDATE,
  expectAccepted,
  retryUntilOk,
  startTestWallet,
  type TestPlayer,
  type TestWallet,
} from './wallet.ts';
