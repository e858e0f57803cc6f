export * from './partner.ts';
export { createTestDatabase, startPostgres, type TestDatabase } from './postgres.ts';
export * from './stack.ts';
