// What Docker asks: whether this container's service takes requests. The gateway answers on its public port, the
// others on their admin port.
const { SERVICE, HTTP_PORT, ADMIN_PORT } = process.env;
const url = `http://127.0.0.1:${SERVICE === 'gateway' ? HTTP_PORT : ADMIN_PORT}/readyz`;
const isReady = await fetch(url, { signal: AbortSignal.timeout(2_500) }).then(
  (response) => response.ok,
  () => false,
);
process.exit(isReady ? 0 : 1);
