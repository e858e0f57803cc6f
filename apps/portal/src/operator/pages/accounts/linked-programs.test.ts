import { expect, test } from 'vitest';
import { linkedProgramsOf } from './linked-programs.ts';

const AT = '2026-11-26T12:00:00.000Z';
const linkOf = (program_id: string, player_ref: string) =>
  ({ program_id, environment: 'test', player_ref, created_at: AT }) as const;

test('the links of one program are listed together', () => {
  const [one, other, second] = [linkOf('one', 'ana'), linkOf('other', 'ben'), linkOf('one', 'ana again')];
  expect(linkedProgramsOf({ data: [one, other, second], severed: [] })).toEqual([
    { programId: 'one', links: [one, second], severedAt: null },
    { programId: 'other', links: [other], severedAt: null },
  ]);
});

test('a severed program is listed without links', () => {
  expect(linkedProgramsOf({ data: [], severed: [{ program_id: 'one', severed_at: AT }] })).toEqual([
    { programId: 'one', links: [], severedAt: AT },
  ]);
});

test('the list of programs is empty for an account that no program has linked', () => {
  expect(linkedProgramsOf({ data: [], severed: [] })).toEqual([]);
});
