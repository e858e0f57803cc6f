import type { Span } from '@laurel/telemetry';
import pg, { type Client } from 'pg';
import { type Failure, Pipeline, type PreparedStatements, type Step } from './pipeline.ts';
import { beginPipeline, endPipeline } from './pipeline-span.ts';

/** How long a session may be silent while something is asked of it. */
export interface Patience {
  readonly statementTimeoutMs: number;
  /** The server ends a slow statement itself; only one that is gone without a word is given up here, so much later. */
  readonly silenceMs: number;
}

/** How a server calls an error behind which it ends the session: a commit under way may have happened all the same. */
const LAST_WORDS: ReadonlySet<string | undefined> = new Set(['FATAL', 'PANIC']);
/** SQLSTATEs of the usual ones, for servers that name the severity in their own language. */
const FAREWELL_STATES = /^57P0[1-5]$/;

/** One connection and what it has prepared. One pipeline at a time. */
export class Session {
  readonly client: Client;
  /** Why it must not be used again. */
  brokenBy: unknown;
  /** The span of whoever has the session, if they are in a trace. */
  span: Span | undefined;
  readonly #patience: Patience;
  /** While something is asked of the server: when it has been waited for long enough. */
  #deadline = Number.POSITIVE_INFINITY;
  readonly #prepared: PreparedStatements = new Map();

  constructor(client: Client, patience: Patience) {
    this.client = client;
    this.#patience = patience;
  }

  send(
    steps: readonly Step[],
    settle: (failure?: Failure) => void,
    statementTimeoutMs = this.#patience.statementTimeoutMs,
  ): void {
    // The server gives each statement its time, and answers to none before the last is done.
    this.#deadline = performance.now() + steps.length * statementTimeoutMs + this.#patience.silenceMs;
    const span = this.span && beginPipeline(this.span, this.client, steps);
    const pipeline = new Pipeline(steps, this.#prepared, (failure) => {
      this.#deadline = Number.POSITIVE_INFINITY;
      if (span !== undefined) endPipeline(span, failure);
      if (failure !== undefined && isFarewell(failure.error)) this.break(failure.error);
      settle(failure);
    });
    this.client.query(pipeline);
  }

  /** The steps as one transaction of their own. */
  async runAlone(steps: readonly Step[]): Promise<void> {
    await new Promise<void>((resolve, reject) => {
      this.send(steps, (failure) => (failure === undefined ? resolve() : reject(failure.error)));
    });
  }

  break(cause: unknown): void {
    this.brokenBy ??= cause;
  }

  /** Whether the next one may have it: unbroken, and outside any transaction. */
  get isFree(): boolean {
    const status = this.client.getTransactionStatus();
    return this.brokenBy === undefined && status !== 'T' && status !== 'E';
  }

  /** Gives a server up that is silent for too long, since it may be gone: what waits for it fails. */
  giveUpIfOverdue(now: number): void {
    if (now < this.#deadline) return;
    this.destroy(new Error('the server does not answer'));
  }

  /** Asks the server to end the session; the connection's end says when it is done, and comes soon even if nobody answers. */
  end(): void {
    this.break(new Error('the connection was ended'));
    this.#deadline = performance.now() + this.#patience.silenceMs;
    void this.client.end().catch(() => {});
  }

  /** Ends the connection without a word. */
  destroy(cause: Error): void {
    this.break(cause);
    this.client.connection.stream.destroy(cause);
  }
}

function isFarewell(error: Error): boolean {
  return (
    error instanceof pg.DatabaseError && (LAST_WORDS.has(error.severity) || FAREWELL_STATES.test(error.code ?? ''))
  );
}
