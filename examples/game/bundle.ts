import { fileURLToPath } from 'node:url';
import { rolldown } from 'rolldown';

/**
 * The page's script and the browser library as one ES module, as a partner's bundler would make it.
 */
export async function bundlePage(): Promise<string> {
  await using build = await rolldown({ input: fileURLToPath(new URL('game.js', import.meta.url)) });
  const { output } = await build.generate({ format: 'esm', minify: true });
  return output[0].code;
}
