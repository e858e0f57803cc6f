import { describe, expect, test } from 'vitest';
import { problemsOf } from './proto-breaking.mjs';

const CLOSE = 'laurel.challenge.v1.ChallengeService/CloseChallenge';
const finding = (type, message) => ({
  path: 'proto/laurel/challenge/v1/challenge.proto',
  start_line: 11,
  type,
  message,
});
const deleted = finding(
  'RPC_NO_DELETE',
  'Previously present RPC "CloseChallenge" on service "ChallengeService" was deleted.',
);
const deletedField = finding('FIELD_NO_DELETE_UNLESS_NUMBER_RESERVED', 'Previously present field "1" was deleted.');

describe('the comparison of proto/ with the version that landed last', () => {
  test('an rpc that is removed and not listed as removed is a problem', () => {
    expect(problemsOf({ findings: [deleted], rpcs: [], removed: [] })).toEqual([
      `proto/laurel/challenge/v1/challenge.proto:11: ${deleted.message} (RPC_NO_DELETE); list it in proto/removed-rpcs.txt if the previous release calls it nowhere`,
    ]);
    const namesakes = ['laurel.challenge.v1.ChallengeService/OpenChallenge', CLOSE.replace('.v1.', '.v2.')];
    expect(problemsOf({ findings: [deleted], rpcs: [], removed: namesakes })).toHaveLength(1);
  });

  test('listing a removed rpc excuses only its own removal', () => {
    expect(problemsOf({ findings: [deleted], rpcs: [], removed: [CLOSE] })).toEqual([]);
    expect(problemsOf({ findings: [deleted, deletedField], rpcs: [], removed: [CLOSE] })).toEqual([
      `proto/laurel/challenge/v1/challenge.proto:11: ${deletedField.message} (${deletedField.type})`,
    ]);
  });

  test('a listed rpc that is served again is a problem', () => {
    expect(problemsOf({ findings: [], rpcs: [CLOSE, `${CLOSE}s`], removed: [CLOSE] })).toEqual([
      `${CLOSE} was removed before: give the new rpc another name`,
    ]);
  });
});
