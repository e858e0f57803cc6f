/**
 * One connection and what it has prepared.
 *
 * States
 * idle      no pipeline is under way; `send` may be called.
 * awaiting  one pipeline is under way. A second one is refused: a failure could belong to either.
 * broken    for good, with the first cause: the connection ended or failed, the server closed the
 *           session or was silent too long, or a response did not match what was asked. A broken
 *           session goes back to the pool only to be ended.
 *
 * Limits
 * The server ends a statement after `statementTimeoutMs`. If the server does not answer within that
 * time for every step plus `silenceMs`, the pool's timer gives the session up. Ending a connection
 * may take `silenceMs`.
 *
 * A failure breaks the session if the server closes it after such an error: FATAL, PANIC, and the
 * SQLSTATEs for servers that name the severity in another language. A commit under way may still
 * have happened.
 */
import type { Span } from '@laurel/telemetry';
import pg, { type Client } from 'pg';
import { destroyConnection } from './driver.ts';
import { type OnEnd, Pipeline } from './pipeline.ts';
import { beginPipelineSpan, endPipelineSpan } from './pipeline-span.ts';
import { PreparedStatements } from './prepared-statements.ts';
import type { Step } from './step.ts';

/** How long the server may be silent while a response is due. */
export interface SessionTimeouts {
  readonly statementTimeoutMs: number;
  /**
   * The server itself ends a statement that exceeds its timeout. If no response has come this much
   * later, the server has vanished, and the pool gives up waiting for it.
   */
  readonly silenceMs: number;
}

const CLOSING_SEVERITIES: ReadonlySet<string | undefined> = new Set(['FATAL', 'PANIC']);
const CLOSING_STATES = /^57P0[1-5]$/;

export class Session {
  readonly client: Client;
  /** The error after which the session must not be used again. */
  brokenBy: unknown;
  /** The span of the work that uses the session, if it is in a trace. */
  span: Span | undefined;
  readonly #timeouts: SessionTimeouts;
  readonly #prepared = new PreparedStatements();
  #isAwaiting = false;
  /**
   * The instant at which the pool gives up waiting for the server; infinity while it waits for
   * nothing.
   */
  #deadline = Number.POSITIVE_INFINITY;

  constructor(client: Client, timeouts: SessionTimeouts) {
    this.client = client;
    this.#timeouts = timeouts;
  }

  send(steps: readonly Step[], onEnd: OnEnd, statementTimeoutMs = this.#timeouts.statementTimeoutMs): void {
    if (this.#isAwaiting) throw new Error('a session has one pipeline under way at a time');
    this.#isAwaiting = true;
    // The timeout applies to each statement, and the first response may come after the last
    // statement.
    this.#deadline = performance.now() + steps.length * statementTimeoutMs + this.#timeouts.silenceMs;
    const span = this.span && beginPipelineSpan(this.span, this.client, steps);
    const pipeline = new Pipeline(steps, this.#prepared, (failure) => {
      this.#isAwaiting = false;
      this.#deadline = Number.POSITIVE_INFINITY;
      if (span !== undefined) endPipelineSpan(span, failure);
      if (failure !== undefined && (pipeline.isOutOfStep || closesSession(failure.error))) this.break(failure.error);
      onEnd(failure);
    });
    this.client.query(pipeline);
  }

  /** Runs the steps as one transaction of their own. */
  async runAlone(steps: readonly Step[]): Promise<void> {
    await new Promise<void>((resolve, reject) => {
      this.send(steps, (failure) => (failure === undefined ? resolve() : reject(failure.error)));
    });
  }

  break(cause: unknown): void {
    this.brokenBy ??= cause;
  }

  /** Whether the next caller may use the session: it is unbroken, and outside any transaction. */
  get isFree(): boolean {
    const status = this.client.getTransactionStatus();
    return this.brokenBy === undefined && !this.#isAwaiting && status !== 'T' && status !== 'E';
  }

  /**
   * Ends the connection to a server that is silent for too long, because the server may have
   * vanished. Pending pipelines fail.
   */
  giveUpIfOverdue(now: number): void {
    if (now < this.#deadline) return;
    this.destroy(new Error('the server does not answer'));
  }

  /**
   * Asks the server to end the session. The end of the connection follows soon, even if the server
   * is silent.
   */
  end(): void {
    this.break(new Error('the connection was ended'));
    this.#deadline = performance.now() + this.#timeouts.silenceMs;
    void this.client.end().catch(() => {});
  }

  /** Ends the connection without asking the server. */
  destroy(cause: Error): void {
    this.break(cause);
    destroyConnection(this.client, cause);
  }
}

function closesSession(error: Error): boolean {
  return (
    error instanceof pg.DatabaseError &&
    (CLOSING_SEVERITIES.has(error.severity) || CLOSING_STATES.test(error.code ?? ''))
  );
}
