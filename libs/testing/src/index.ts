export { createTestClock, type TestClock } from './clock.ts';
export * from './partner.ts';
export { createTestDatabase, startPostgres, type TestDatabase } from './postgres.ts';
export * from './stack.ts';
export { ok, retryUntilOk, startTestWallet, type TestPlayer, type TestWallet } from './wallet.ts';
