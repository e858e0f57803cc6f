import { describeFaults } from './describe-faults.ts';
import { faultCases } from './table.ts';

describeFaults('faults in the tournament service', faultCases('tournament', 'before'));
