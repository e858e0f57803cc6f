import { fileURLToPath } from 'node:url';
import { rolldown } from 'rolldown';

/** The page's script with the browser library in it, as a partner's bundler makes it: one ES module. */
export async function bundlePage(): Promise<string> {
  await using build = await rolldown({ input: fileURLToPath(new URL('game.js', import.meta.url)) });
  const { output } = await build.generate({ format: 'esm', minify: true });
  return output[0].code;
}
