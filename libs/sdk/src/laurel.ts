import { SYSTEM_CLOCK } from './clock.ts';
import { checkOptions, type LaurelOptions } from './options.ts';
import { Attempts } from './resources/attempts.ts';
import { Challenges } from './resources/challenges.ts';
import { Integrations } from './resources/integrations.ts';
import { Players } from './resources/players.ts';
import { Rounds } from './resources/rounds.ts';
import { Sandbox } from './resources/sandbox.ts';
import { Tournaments } from './resources/tournaments.ts';
import { createSend } from './send.ts';
import { Transport } from './transport.ts';

/**
 * A client of the partner API: a method for each operation of `/v1` and of the sandbox, with the
 * API's own bodies. Use one client for each key and process: all its calls share one gate for the
 * limit of requests a minute, except the calls of `sandbox`, which share another.
 *
 * A method returns a promise of the response's body; `.withResponse()` adds the facts of the
 * response. It rejects with a `LaurelError`, with a `TypeError` for a wrong argument, or with the
 * reason of its aborted signal.
 */
export class Laurel {
  readonly challenges: Challenges;
  readonly players: Players;
  readonly attempts: Attempts;
  readonly tournaments: Tournaments;
  readonly rounds: Rounds;
  readonly integrations: Integrations;
  readonly sandbox: Sandbox;

  /** Throws a TypeError for a malformed key, address or number, and in a browser. Sends nothing. */
  constructor(options: LaurelOptions) {
    const checked = checkOptions(options);
    const send = createSend(new Transport(checked, SYSTEM_CLOCK));
    this.challenges = new Challenges(send);
    this.players = new Players(send);
    this.attempts = new Attempts(send);
    this.tournaments = new Tournaments(send);
    this.rounds = new Rounds(send);
    this.integrations = new Integrations(send);
    // The sandbox has its own limit, and therefore its own gate.
    this.sandbox = new Sandbox(createSend(new Transport(checked, SYSTEM_CLOCK)), checked.apiKey);
  }
}
