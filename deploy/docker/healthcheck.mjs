// Docker's health check: whether this container's service accepts requests. Every service responds
// on its admin port.
const url = `http://127.0.0.1:${process.env.ADMIN_PORT}/readyz`;
const isReady = await fetch(url, { signal: AbortSignal.timeout(2_500) }).then(
  (response) => response.ok,
  () => false,
);
process.exit(isReady ? 0 : 1);
