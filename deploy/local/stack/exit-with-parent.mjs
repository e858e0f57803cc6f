// Preloaded into every service that the launcher starts (`node --import`). The launcher holds one end of an IPC
// channel; when the launcher exits or is killed, the service drains and exits, so that no port is in use at the next start.
const DRAIN_LIMIT_MS = 12_000;

process.channel?.unref();
process.once('disconnect', () => {
  setTimeout(() => process.exit(1), DRAIN_LIMIT_MS).unref();
  process.kill(process.pid, 'SIGTERM');
});
