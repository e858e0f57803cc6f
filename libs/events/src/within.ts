/**
 * Waits for the work, but at most this long, and ignores its failure: for closing a connection to a
 * server that may be unreachable.
 */
export async function withinMs(limitMs: number, work: Promise<unknown> | undefined): Promise<void> {
  if (work === undefined) return;
  let timer: NodeJS.Timeout | undefined;
  const limit = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, limitMs);
  });
  await Promise.race([work.catch(() => undefined), limit]);
  clearTimeout(timer);
}
