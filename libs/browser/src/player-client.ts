import { isAttempt, isChallengeList, isLeaderboard } from './answers.ts';
import { isNotFound, isRefusal, LaurelBrowserError } from './errors.ts';
import { type Arm, createArmStore, isStale, newArm } from './kept-arm.ts';
import type { Attempt, Challenge, Leaderboard } from './player-shapes.ts';
import type { PlayerState, Target } from './player-state.ts';
import { createTransport, type InitOptions, type Transport } from './transport.ts';

interface Connection extends Transport {
  readonly store: ReturnType<typeof createArmStore>;
}

const FIRST_POLL_MS = 500;
const SLOWEST_POLL_MS = 8_000;
const MAX_FAILED_POLLS = 5;

/**
 * A player's paid attempts in one tab: `idle -> armed -> paying -> open -> ended`. From `paying` a
 * refusal leads to `idle`, and a lost reply to `unconfirmed`, from where `begin` asks again. Every
 * change dispatches `statechange`. All methods but `init` raise `LaurelBrowserError`, with the code
 * `not_initialised` until `init` was called.
 */
export class PlayerClient extends EventTarget {
  #connection: Connection | undefined;
  #arm: Arm | undefined;
  #attempt: Attempt | undefined;
  #beginning: Promise<Attempt> | undefined;
  #state: PlayerState = { status: 'idle' };

  /**
   * Sets the partner's server and the player, and resumes what this player had armed in this tab.
   * Call it again when another player signs in: `state` becomes that player's, and the arm of the
   * previous player is kept until that player returns. Throws a `TypeError` if the options contain
   * a server key, and the browser's error if the page may not use the storage: without the storage,
   * a reload might pay twice.
   */
  init(options: InitOptions): void {
    // First, so that even if the rest fails, nothing that the previous player armed can be paid for
    // in the next player's session.
    this.#connection = undefined;
    this.#arm = undefined;
    const transport = createTransport(options);
    const store = createArmStore(options.storage ?? sessionStorage, options);
    const arm = store.read();
    this.#connection = { ...transport, store };
    this.#beginning = undefined;
    this.#take(arm);
  }

  get state(): PlayerState {
    return this.#state;
  }

  /** What the player may attempt now. */
  async challenges(): Promise<readonly Challenge[]> {
    const { data } = await this.#connected().send('GET', 'challenges', { isBody: isChallengeList });
    return data;
  }

  /** The board of a round that this player may see. */
  async leaderboard(roundId: string): Promise<Leaderboard> {
    const path = `rounds/${encodeURIComponent(roundId)}/leaderboard`;
    return this.#connected().send('GET', path, { isBody: isLeaderboard });
  }

  /**
   * Chooses what `begin` pays for; sends nothing. Throws `attempt_in_progress` while a paid attempt
   * has not ended, or while it is unknown whether an attempt was paid.
   */
  arm(target: Target): void {
    const { store } = this.#connected();
    this.#forgetStale();
    if (this.#arm?.sentAt !== undefined) {
      throw new LaurelBrowserError('attempt_in_progress', 'An attempt is in progress.');
    }
    const only = 'roundId' in target ? { roundId: target.roundId } : { challengeId: target.challengeId };
    const armed = newArm(only);
    // The storage is written first: an arm that it does not keep is not sent.
    store.write(armed);
    this.#take(armed);
  }

  /**
   * Forgets what the player has armed; call it when the player signs out. If a session ends without
   * a sign-out, the option `player` of `init` keeps the next player from paying with this arm. A
   * paid attempt stays with the partner's server, and expires with a refund after an hour without
   * an outcome.
   */
  disarm(): void {
    const { store } = this.#connected();
    this.#take(undefined);
    store.write(undefined);
  }

  /**
   * Pays for the armed attempt, once however often it is called: clicks during a call share it, and
   * after a lost reply or a reload the same arm is sent again. A refusal (`insufficient_funds`,
   * `blocked`, ...) charges nothing and disarms. After `network` and other failures without a
   * decision the state is `unconfirmed`, and the next call finds out whether the attempt was paid
   * for. Throws `not_armed` if nothing is armed.
   */
  async begin(): Promise<Attempt> {
    const connection = this.#connected();
    this.#forgetStale();
    if (!this.#arm) throw notArmed();
    if (this.#attempt) return this.#attempt;
    if (this.#beginning) return this.#beginning;
    const beginning = this.#begin(connection, this.#arm).finally(() => {
      if (this.#beginning === beginning) this.#beginning = undefined;
    });
    this.#beginning = beginning;
    return beginning;
  }

  /**
   * Resolves with the attempt once it is no longer open. It asks the server at growing intervals,
   * so call it once the partner's server has the outcome. Up to five failures in a row do not end
   * it. After an error other than a refusal, call it again. Rejects with `not_armed` if no attempt
   * is known.
   */
  async result({ signal }: { readonly signal?: AbortSignal } = {}): Promise<Attempt> {
    const connection = this.#connected();
    const arm = this.#arm;
    if (!arm?.attemptId) throw notArmed();
    let failures = 0;
    for (let delayMs = FIRST_POLL_MS; ; delayMs = Math.min(delayMs * 2, SLOWEST_POLL_MS)) {
      try {
        const attempt = await this.#read(connection, arm, arm.attemptId, signal);
        failures = 0;
        if (attempt.status !== 'open') {
          if (this.#arm === arm) this.#end(arm, attempt);
          return attempt;
        }
      } catch (error) {
        if (!(error instanceof LaurelBrowserError) || isNotFound(error) || error.code === 'unauthorized') throw error;
        failures += 1;
        if (failures > MAX_FAILED_POLLS) throw error;
      }
      await pause(delayMs, signal);
    }
  }

  /**
   * Always rejects with `client_reporting_removed` and sends nothing: the partner's server measures
   * the score and reports it.
   */
  async reportOutcome(): Promise<never> {
    throw new LaurelBrowserError('client_reporting_removed', 'Outcomes are reported by the game server.');
  }

  async #begin(connection: Connection, arm: Arm): Promise<Attempt> {
    const { id, target, sentAt = Date.now(), attemptId } = arm;
    if (attemptId) {
      const attempt = await this.#read(connection, arm, attemptId);
      if (this.#arm !== arm) throw notArmed();
      this.#attempt = attempt;
      return attempt;
    }
    const sent = { ...arm, sentAt };
    this.#take(arm, { status: 'paying', target });
    const wanted = 'roundId' in target ? { tournament_round_id: target.roundId } : { challenge_id: target.challengeId };
    try {
      const onSend = () => {
        if (this.#arm !== arm) throw notArmed();
        connection.store.write(sent);
        this.#arm = sent;
      };
      const body = { arm_id: id, ...wanted };
      const attempt = await connection.send('POST', 'attempts', { isBody: isAttempt, body, onSend });
      if (this.#arm !== sent) throw notArmed();
      this.#persist({ ...sent, attemptId: attempt.id });
      this.#attempt = attempt;
      return attempt;
    } catch (error) {
      // Nothing was sent, so the arm remains armed or unconfirmed.
      if (this.#arm === arm) this.#take(arm);
      if (this.#arm === sent) this.#persist(isRefusal(error) ? undefined : this.#asKnown(arm, sent, error));
      throw error;
    }
  }

  /**
   * Returns the arm after a failure that leaves the payment open: the sent arm. But if the session
   * had ended, returns the previous arm, because the server noticed that before it did anything.
   */
  #asKnown(before: Arm, sent: Arm, error: unknown): Arm {
    return error instanceof LaurelBrowserError && error.code === 'unauthorized' ? before : sent;
  }

  /** Reads an attempt. Disarms if the server has no such attempt of this player. */
  async #read(connection: Connection, arm: Arm, attemptId: string, signal?: AbortSignal): Promise<Attempt> {
    try {
      const isBody = (answer: object) => isAttempt(answer, attemptId);
      return await connection.send('GET', `attempts/${encodeURIComponent(attemptId)}`, { isBody, signal });
    } catch (error) {
      if (isNotFound(error) && this.#arm === arm) this.#persist(undefined);
      throw error;
    }
  }

  #connected(): Connection {
    if (this.#connection) return this.#connection;
    throw new LaurelBrowserError('not_initialised', 'Call init first.');
  }

  #forgetStale(): void {
    if (this.#arm && !this.#beginning && isStale(this.#arm)) this.#persist(undefined);
  }

  /**
   * Stores what a response has decided. If the storage fails, the storage still has the sent arm:
   * after a reload that arm is sent again, and charged only once.
   */
  #persist(arm: Arm | undefined, state?: PlayerState): void {
    try {
      this.#connected().store.write(arm);
    } catch {
      // The storage keeps the previous arm.
    }
    this.#take(arm, state);
  }

  #take(arm: Arm | undefined, state = stateOf(arm)): void {
    if (arm?.id !== this.#arm?.id) this.#beginning = undefined;
    this.#arm = arm;
    this.#attempt = undefined;
    this.#state = state;
    this.dispatchEvent(new Event('statechange'));
  }

  #end({ target }: Arm, attempt: Attempt): void {
    this.#persist(undefined, { status: 'ended', target, attempt });
  }
}

function stateOf(arm: Arm | undefined): PlayerState {
  if (!arm) return { status: 'idle' };
  const { target, sentAt, attemptId } = arm;
  if (attemptId) return { status: 'open', target, attemptId };
  return { status: sentAt === undefined ? 'armed' : 'unconfirmed', target };
}

function notArmed(): LaurelBrowserError {
  return new LaurelBrowserError('not_armed', 'Nothing is armed.');
}

/** Rejects with the signal's reason when it is aborted. */
function pause(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    signal?.throwIfAborted();
    const stop = () => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', stop);
      resolve();
    }, ms);
    signal?.addEventListener('abort', stop, { once: true });
  });
}
