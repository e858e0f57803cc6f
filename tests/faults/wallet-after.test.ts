import { describeFaults } from './describe-faults.ts';
import { faultCases } from './table.ts';

describeFaults('faults in the wallet', faultCases('wallet', 'after'));
