/** Waits for the work, but no longer than this and whatever becomes of it: for goodbyes to a server that may be gone. */
export async function withinMs(limitMs: number, work: Promise<unknown> | undefined): Promise<void> {
  if (work === undefined) return;
  let timer: NodeJS.Timeout | undefined;
  const limit = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, limitMs);
  });
  await Promise.race([work.catch(() => undefined), limit]);
  clearTimeout(timer);
}
