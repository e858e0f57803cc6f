import { describeFaults } from './describe-faults.ts';
import { lapseCases } from './table.ts';

describeFaults('faults while an attempt’s time runs out', lapseCases(), { ofAttempts: { ATTEMPT_TTL_SECONDS: '2' } });
