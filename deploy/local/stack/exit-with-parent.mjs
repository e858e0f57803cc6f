// Preloaded into every service that the launcher starts (`node --import`). The launcher holds one
// end of an IPC channel.
// When the launcher exits or is killed, the service drains and exits, so that its port is free at
// the next start.
const DRAIN_LIMIT_MS = 12_000;

process.channel?.unref();
process.once('disconnect', () => {
  setTimeout(() => process.exit(1), DRAIN_LIMIT_MS).unref();
  process.kill(process.pid, 'SIGTERM');
});
