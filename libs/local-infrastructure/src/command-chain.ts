import { inspectProcess } from './inspect-process.mjs';

/**
 * The processes from this one's parent up to the `npm` that the user ran. If the user kills that
 * `npm`, the stack must end too. Without npm (under a service manager or in a script) the list is
 * empty, because there this process must outlive its parent.
 */
export function commandChain(): readonly number[] {
  if (process.env.npm_lifecycle_event === undefined) return [];
  const chain: number[] = [];
  let pid = process.ppid;
  for (let depth = 0; depth < 4 && pid > 1; depth += 1) {
    const found = inspectProcess(pid);
    if (found === null || !/bootstrap\.mjs|\bnpm\b/.test(found.command)) break;
    chain.push(pid);
    if (/^npm\b|npm-cli\.js/.test(found.command)) break;
    pid = found.parent;
  }
  return chain;
}

/** Resolves as soon as any process of the chain has exited. */
export function untilChainBreaks(chain: readonly number[], signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (chain.length === 0) return;
    const timer = setInterval(() => {
      const isWhole = chain.every(
        (pid, index) => (index === 0 ? process.ppid : inspectProcess(chain[index - 1] as number)?.parent) === pid,
      );
      if (isWhole) return;
      clearInterval(timer);
      resolve();
    }, 1000);
    signal.addEventListener('abort', () => clearInterval(timer), { once: true });
  });
}
