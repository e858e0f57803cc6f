import { newId, newOwnedId } from '@laurel/values/ids';
import { expect, test } from 'vitest';
import { connectChallenge } from './challenge.ts';
import { serviceOf } from './service-of.ts';
import { connectTournament } from './tournament.ts';

test('serviceOf returns the service that owns an id, or null if the id names no service', async () => {
  await using challenge = connectChallenge('127.0.0.1:1', {});
  await using tournament = connectTournament('127.0.0.1:1', {});
  const services = { challenge, tournament };
  expect(serviceOf(services, newOwnedId('challenge'))).toBe(challenge);
  expect(serviceOf(services, newOwnedId('tournament'))).toBe(tournament);
  expect(serviceOf(services, newId())).toBeNull();
  expect(serviceOf(services, 'no id')).toBeNull();
});
