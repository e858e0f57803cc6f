/**
 * The process of all services dies at every failpoint of the fault table, once at each: the
 * services lose their memory at the same moment, and start again together.
 */
import { describeFaults } from '../faults/describe-faults.ts';
import { oneDeathEach } from '../faults/table.ts';

describeFaults('kill -9 of the process of all services', oneDeathEach(), { shape: 'one-process' });
