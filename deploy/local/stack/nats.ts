import { connect } from 'node:net';
import { join } from 'node:path';
import type { ProcessShape } from './supervisor.ts';

/** A NATS server with JetStream, on 127.0.0.1 alone. Its streams are in the data directory. */
export function natsProcess(options: {
  file: string;
  dataDir: string;
  port: number;
  logFile: string;
  /** The users and the certificate of the server. */
  configurationFile: string;
  onPid: ProcessShape['onPid'];
}): ProcessShape {
  return {
    name: 'nats',
    file: options.file,
    args: [
      '--config',
      options.configurationFile,
      '--addr',
      '127.0.0.1',
      '--port',
      String(options.port),
      '--jetstream',
      '--store_dir',
      join(options.dataDir, 'nats'),
    ],
    environment: { PATH: process.env.PATH ?? '' },
    workingDirectory: options.dataDir,
    logFile: options.logFile,
    holdsChannel: false,
    isReady: () => accepts(options.port),
    onPid: options.onPid,
  };
}

function accepts(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host: '127.0.0.1', port });
    socket.once('connect', () => socket.destroy());
    socket.once('close', (hadError) => resolve(!hadError));
    socket.once('error', () => undefined);
  });
}
