import { IN_PROCESS } from '@laurel/grpc';
import { ConfigError } from '@laurel/service';
import { SERVICE_NAMES } from '@laurel/topology';
import { expect, test } from 'vitest';
import { parseProcessConfig, serviceEnvironment } from './config.ts';
import { PROGRAMS } from './programs.ts';

function issuesOf(environment: NodeJS.ProcessEnv): readonly string[] {
  try {
    parseProcessConfig(environment);
  } catch (error) {
    if (error instanceof ConfigError) return error.issues;
    throw error;
  }
  return [];
}

const WALLET = { WALLET_DATABASE_URL: 'postgres://127.0.0.1/wallet' };

test('services start after the services that they call, in whatever order they are named', () => {
  const environment = { ...WALLET, WEBHOOK_ADDRESS: 'in-process', LAUREL_SERVICES: 'wallet' };
  expect([...parseProcessConfig(environment).services.keys()]).toEqual(['wallet']);
  expect(issuesOf({ LAUREL_SERVICES: 'challenge, wallet' })).toContain('wallet: WALLET_DATABASE_URL: is required');
  expect(parseProcessConfig({ ...WALLET, LAUREL_SERVICES: ' wallet' }).LAUREL_SERVICES).toEqual(['wallet']);
  const message = `LAUREL_SERVICES: must be all, or some of ${SERVICE_NAMES.join(', ')}`;
  expect(issuesOf({ LAUREL_SERVICES: 'wallet,purse' })).toEqual([message]);
});

test('every validation issue names its service', () => {
  const issues = issuesOf({});
  for (const service of SERVICE_NAMES) {
    expect(issues).toContain(`${service}: ${service.toUpperCase()}_DATABASE_URL: is required`);
  }
  expect(issues.filter((issue) => issue.includes('_ADDRESS') || issue.includes('_PORT'))).toEqual([]);
});

test('a service calls another one in the process if both run there, and by its address otherwise', () => {
  const environment = { WALLET_ADDRESS: 'wallet:50051', CHALLENGE_ADDRESS: 'challenge:50051' };
  expect(serviceEnvironment('gateway', ['challenge', 'gateway'], environment)).toMatchObject({
    WALLET_ADDRESS: 'wallet:50051',
    CHALLENGE_ADDRESS: IN_PROCESS,
  });
});

test('a variable whose name begins with a service’s name applies to that service alone', () => {
  const environment = {
    NATS_URL: 'nats://shared:4222',
    CHALLENGE_NATS_URL: 'nats://challenge:4222',
    GRPC_PORT: '50051',
    WALLET_GRPC_PORT: '50052',
  };
  const of = (service: 'wallet' | 'challenge' | 'tournament') =>
    serviceEnvironment(service, SERVICE_NAMES, environment);
  expect(of('challenge')).toMatchObject({ NATS_URL: 'nats://challenge:4222', GRPC_PORT: IN_PROCESS });
  expect(of('tournament')).toMatchObject({ NATS_URL: 'nats://shared:4222', GRPC_PORT: IN_PROCESS });
  expect(of('wallet')).toMatchObject({ GRPC_PORT: '50052' });
});

test('no service’s variable has the prefixed name of another variable of that service', () => {
  for (const service of SERVICE_NAMES) {
    const { variables } = PROGRAMS[service];
    expect(variables).toContain(`${service.toUpperCase()}_DATABASE_URL`);
    const prefixed = variables.map((name) => `${service.toUpperCase()}_${name}`);
    expect(prefixed.filter((name) => variables.includes(name))).toEqual([]);
  }
});
