import { join } from 'node:path';
import { pagesAt } from './vite.config.ts';

/** `npx vite --config apps/portal/operator.config.ts`. */
export default pagesAt('/operator/', join(import.meta.dirname, 'src/operator'));
