import { isRefused } from '@laurel/errors';
import { Environment } from '@laurel/proto/common';
import { newId } from '@laurel/values/ids';
import { ENVIRONMENTS } from '@laurel/values/tenant';
import { expect, test } from 'vitest';
import { PROGRAM_STATUSES } from '../../domain/program.ts';
import { openTenantOf } from './open-tenant.ts';

const OPEN_IN: Record<(typeof PROGRAM_STATUSES)[number], readonly string[]> = {
  draft: ['test'],
  approved: ['test', 'live'],
  suspended: [],
  closed: [],
};
const NUMBERS = { test: Environment.TEST, live: Environment.LIVE } as const;

test.each(PROGRAM_STATUSES)(
  'a program that is %s is open where its key works and the configuration accepts such a key',
  (status) => {
    for (const deletionScheduled of [false, true])
      for (const accepted of [['test', 'live'], ['test'], ['live']] as const)
        for (const environment of ENVIRONMENTS) {
          const program = {
            id: newId(),
            name: 'Arcade',
            developerId: null,
            status,
            deletionScheduled,
            createdAt: new Date(),
            keys: [],
          };
          const tenant = openTenantOf(program, NUMBERS[environment], {
            config: { ACCEPTED_ENVIRONMENTS: [...accepted] },
          });
          const isOpen =
            !deletionScheduled && OPEN_IN[status].includes(environment) && accepted.some((it) => it === environment);
          if (isOpen) expect(tenant).toEqual({ programId: program.id, environment: NUMBERS[environment] });
          else expect(isRefused(tenant) && tenant.code).toBe('conflict');
        }
  },
);
