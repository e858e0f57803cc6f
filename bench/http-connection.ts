import { connect, type Socket } from 'node:net';

/** The response to one request. */
export interface HttpAnswer {
  readonly status: number;
  readonly body: string;
}

/**
 * One keep-alive HTTP/1.1 connection that carries one request at a time.
 *
 * The load generator shares two cores with the system that it measures, so a general client would
 * cost the system up to a third of its throughput. The gateway always responds with a
 * content-length, so this is enough.
 * The set-up uses the SDK, but a measured flow must not: the SDK's rate gate would delay requests
 * and its retries would hide failures, so the run would measure the SDK.
 */
export class HttpConnection {
  private socket: Socket | undefined;
  private received: Buffer = Buffer.alloc(0);
  private inFlight: { resolve: (answer: HttpAnswer) => void; reject: (error: Error) => void } | undefined;
  private readonly host: string;
  private readonly port: number;

  constructor(host: string, port: number) {
    this.host = host;
    this.port = port;
  }

  /**
   * Sends one request; `headers` are complete lines, each ended by CRLF. Rejects if the connection
   * fails.
   */
  async send(method: string, path: string, headers: string, body: string): Promise<HttpAnswer> {
    const socket = this.socket ?? (await this.open());
    const length = Buffer.byteLength(body);
    return new Promise<HttpAnswer>((resolve, reject) => {
      this.inFlight = { resolve, reject };
      socket.write(
        `${method} ${path} HTTP/1.1\r\nhost: ${this.host}\r\n${headers}content-type: application/json\r\ncontent-length: ${length}\r\n\r\n${body}`,
      );
    });
  }

  close(): void {
    this.socket?.destroy();
    this.socket = undefined;
  }

  private async open(): Promise<Socket> {
    const socket = connect({ host: this.host, port: this.port, noDelay: true });
    await new Promise<void>((resolve, reject) => {
      socket.once('connect', resolve);
      socket.once('error', reject);
    });
    socket.on('data', (chunk) => this.read(chunk));
    const fail = () => {
      this.socket = undefined;
      this.inFlight?.reject(new Error('the connection was closed before the answer'));
      this.inFlight = undefined;
    };
    socket.on('error', fail);
    socket.on('close', fail);
    this.socket = socket;
    return socket;
  }

  private read(chunk: Buffer): void {
    this.received = this.received.length === 0 ? chunk : Buffer.concat([this.received, chunk]);
    const headEnd = this.received.indexOf('\r\n\r\n');
    if (headEnd < 0) return;
    const head = this.received.toString('latin1', 0, headEnd);
    const length = Number(/\r\ncontent-length: (\d+)/i.exec(head)?.[1] ?? 0);
    const bodyEnd = headEnd + 4 + length;
    if (this.received.length < bodyEnd) return;
    const answer = { status: Number(head.slice(9, 12)), body: this.received.toString('utf8', headEnd + 4, bodyEnd) };
    this.received = Buffer.alloc(0);
    const inFlight = this.inFlight;
    this.inFlight = undefined;
    inFlight?.resolve(answer);
  }
}
