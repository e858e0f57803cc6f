import { OPERATOR_CHANGES } from '@laurel/testing';
import { type RequestHandler, Router } from 'express';
import { expect, test } from 'vitest';
import { apiArea } from '../http/route.ts';
import { defineOperatorRoute } from './operator/route.ts';
import { type OperatorDependencies, operatorRouter } from './operator/router.ts';
import { type ActionLog, assertChangesAreRecorded, recordedChange } from './operator-log.ts';

const answer: RequestHandler = (_request, response) => void response.end();
const log = {} as ActionLog;

test('an operator route that changes something cannot bypass the log of actions', () => {
  const route = defineOperatorRoute({
    method: 'patch',
    path: '/things/{thingId}',
    name: 'change',
    summary: 'Change a thing',
    success: { status: 204, description: 'Changed.' },
    action: 'change',
    run: async (_call, _log: ActionLog) => ({}),
  });
  const rest = { area: apiArea('operator'), handle: async () => ({}) };
  const change = recordedChange(log, { route, ...rest });
  const recorded = Router().get('/things', answer).patch('/things/:thingId', change);
  expect(() => assertChangesAreRecorded(recorded)).not.toThrow();
  for (const method of ['post', 'put', 'patch', 'delete'] as const) {
    const forgetful = Router().post('/things', change)[method]('/things/:thingId', answer);
    expect(() => assertChangesAreRecorded(forgetful)).toThrow(`${method} /things/:thingId changes something`);
  }
  expect(() => assertChangesAreRecorded(Router().use(recorded))).toThrow('a router inside this one');
  expect(() => assertChangesAreRecorded(Router().all('/things', answer))).toThrow('/things changes something');
  const { action: _action, ...nameless } = route;
  expect(() => recordedChange(log, { route: nameless, ...rest })).toThrow('names no action');
});

test('the black-box tests cover exactly the operator routes that change something', () => {
  const config = { OPERATOR_TOKEN: 'x'.repeat(32), OPERATOR_TOKENS: [], OPERATOR_RATE_LIMIT_PER_MINUTE: 1 };
  const { stack } = operatorRouter({ config, limitFailures: answer } as unknown as OperatorDependencies);
  const changes = stack.flatMap(({ route }) =>
    (route?.stack ?? []).flatMap(({ method }) =>
      method === 'get' ? [] : [`${method.toUpperCase()} ${route?.path.replace(/:(\w+)/g, '{$1}')}`],
    ),
  );
  expect(changes.sort()).toEqual(Object.values(OPERATOR_CHANGES).sort());
});
