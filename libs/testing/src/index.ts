export { createTestClock, type TestClock } from './clock.ts';
export * from './collector.ts';
export { NATS_URL_VARIABLE, natsUrl, startNats } from './nats.ts';
export * from './partner.ts';
export * from './portal.ts';
export { createTestDatabase, startPostgres, type TestDatabase } from './postgres.ts';
export * from './receiver.ts';
export * from './stack.ts';
export { ok, retryUntilOk, startTestWallet, type TestPlayer, type TestWallet } from './wallet.ts';
