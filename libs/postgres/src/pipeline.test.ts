import { EventEmitter } from 'node:events';
import { beforeEach, expect, test } from 'vitest';
import { type Failure, Pipeline } from './pipeline.ts';
import { PreparedStatements } from './prepared-statements.ts';
import { Step } from './step.ts';

/** Records what is written to it, and whether it was cut. */
class FakeConnection extends EventEmitter {
  readonly written: string[] = [];
  cutBy: string | undefined;
  readonly stream = {
    cork: () => {},
    uncork: () => {},
    destroy: ({ message }: Error) => {
      this.cutBy = message;
    },
  };
  parse = ({ name }: { name: string }) => void this.written.push(`parse ${name}`);
  bind = ({ statement }: { statement: string }) => void this.written.push(`bind ${statement}`);
  describe = () => void this.written.push('describe');
  execute = () => void this.written.push('execute');
  close = ({ name }: { name: string }) => void this.written.push(`close ${name}`);
  query = (text: string) => void this.written.push(text);
  sync = () => void this.written.push('sync');
}

const ONE = { name: 'one', text: 'select 1 as n' };
const TWO = { name: 'two', text: 'select 2 as n' };
const FIELDS = { fields: [{ name: 'n', dataTypeID: 20 }] };

let prepared: PreparedStatements;
let connection: FakeConnection;
let ends: (Failure | undefined)[];

beforeEach(() => {
  prepared = new PreparedStatements();
  connection = new FakeConnection();
  ends = [];
});

function send(...statements: readonly { name?: string; text: string }[]): Pipeline {
  const steps = statements.map((statement) => new Step(statement));
  const pipeline = new Pipeline(steps, prepared, (failure) => void ends.push(failure));
  expect(pipeline.submit(connection as never)).toBeUndefined();
  return pipeline;
}

test('all steps of a pipeline are written with one Sync', () => {
  send(ONE).handleCommandComplete({ text: 'SELECT 0' });
  connection.written.length = 0;
  send(ONE, TWO);
  expect(connection.written).toEqual([
    ...['bind one', 'execute'],
    ...['close two', 'parse two', 'bind two', 'describe', 'execute'],
    'sync',
  ]);
});

test('each step of a pipeline gets the rows of its own result', () => {
  const pipeline = send(ONE, TWO);
  for (const values of [['1'], ['2', '3']]) {
    pipeline.handleRowDescription(FIELDS);
    for (const value of values) pipeline.handleDataRow({ fields: [value] });
    pipeline.handleCommandComplete({ text: `SELECT ${values.length}` });
  }
  pipeline.handleReadyForQuery();
  expect(pipeline.steps.map(({ rows, tag }) => [rows, tag])).toEqual([
    [[{ n: 1n }], 'SELECT 1'],
    [[{ n: 2n }, { n: 3n }], 'SELECT 2'],
  ]);
  expect([ends, connection.cutBy]).toEqual([[undefined], undefined]);
});

test('a pipeline can be sent only once', () => {
  const pipeline = send(ONE);
  expect(pipeline.submit(connection as never)?.message).toBe('a pipeline is sent once, and this one is sent');
});

test.each([
  ['a row', (pipeline: Pipeline) => pipeline.handleDataRow({ fields: ['1'] })],
  ['a result', (pipeline: Pipeline) => pipeline.handleCommandComplete({ text: 'SELECT 1' })],
  ['an empty result', (pipeline: Pipeline) => pipeline.handleEmptyQuery()],
])('%s that no step has asked for cuts the connection of a pipeline', (answer, receive) => {
  const pipeline = send(ONE);
  pipeline.handleCommandComplete({ text: 'SELECT 0' });
  receive(pipeline);
  expect([pipeline.isOutOfStep, connection.cutBy]).toEqual([
    true,
    `the server sent ${answer} that no step has asked for`,
  ]);
});

test('a pipeline cuts the connection if the server is ready before the last result', () => {
  const pipeline = send(ONE, TWO);
  pipeline.handleCommandComplete({ text: 'SELECT 0' });
  pipeline.handleReadyForQuery();
  const message = 'the server was ready after 1 of 2 steps';
  expect([pipeline.isOutOfStep, connection.cutBy]).toEqual([true, message]);
  expect(ends).toEqual([{ error: new Error(message), index: 1 }]);
});

test('a second response to a pipeline cuts the connection', () => {
  const pipeline = send(ONE);
  pipeline.handleCommandComplete({ text: 'SELECT 0' });
  pipeline.handleReadyForQuery();
  pipeline.handleError(new Error('late'));
  expect([ends, connection.cutBy]).toEqual([[undefined], 'the server answered a pipeline twice']);
});

test('a suspended statement of a pipeline cuts the connection', () => {
  send(ONE).handlePortalSuspended();
  expect(connection.cutBy).toBe('the server suspended a statement that has no limit');
});

test('a pipeline returns only the result of a text’s first command', () => {
  const pipeline = send({ text: 'select 1; select 2' });
  pipeline.handleCommandComplete({ text: 'SELECT 1' });
  pipeline.handleDataRow({ fields: ['2'] });
  pipeline.handleCommandComplete({ text: 'SELECT 1' });
  pipeline.handleReadyForQuery();
  expect([ends, connection.cutBy]).toEqual([[undefined], undefined]);
});
