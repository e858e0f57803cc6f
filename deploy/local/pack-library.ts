/**
 * `npm run pack -- libs/sdk [folder]` builds a library as partners install it and prints the path
 * of its tarball. The folder is `.laurel/packages` by default.
 */
import { join, resolve } from 'node:path';
import { packLibrary, ROOT } from './library-package.ts';

const [library, folder = join(ROOT, '.laurel', 'packages')] = process.argv.slice(2);
if (library === undefined) {
  console.error('Usage: npm run pack -- libs/sdk [folder]');
  process.exitCode = 1;
} else {
  console.log(packLibrary(resolve(ROOT, library), resolve(folder)).tarball);
}
