/** The page of "Stop the clock". Money goes through the browser library, the game through the
 * partner's own routes below /game. The page draws what `laurel.state` says, so a reload at any
 * moment leads back to where the player was. */
import { laurel } from '@laurel/browser';

const VISIBLE_MS = 2_000;
const REST_MS = 500;

/** The texts of error codes; others show the error's message. @type {Record<string, string>} */
const MESSAGES = {
  insufficient_funds: 'You do not have enough play money: sign in again to get some.',
  blocked: 'You may not play for money.',
  challenge_not_available: 'This challenge is closed at the moment.',
  challenge_already_claimed: 'You have already won this prize.',
  attempt_cap_reached: 'You have bought all your runs.',
  entries_closed: 'This round takes no more entries.',
  network: 'The game server cannot be reached.',
  unauthorized: 'Your session is over: sign in again.',
};

/** The elements of the page by their ids. @type {Record<string, any>} */
const ui = Object.fromEntries(Array.from(document.querySelectorAll('[id]'), (one) => [one.id, one]));
/** What can be played for, by id. @type {Map<string | undefined, { name: string, fee: string }>} */
const offers = new Map();
/** The running clock, or the score at its stop. @type {{ begunAt?: number, score?: number }} */
let game = {};
/** What the button of the dialog does now. @type {() => unknown} */
let act;
/** The timer after which that button takes clicks again. */
let resting = 0;

laurel.addEventListener('statechange', drawRun);
on(ui['sign-in'], 'submit', async (event) => {
  event.preventDefault();
  await enter(await ask('POST', 'session', { name: ui.name.value }));
});
on(ui['sign-out'], 'click', async () => {
  laurel.disarm();
  await enter(await ask('DELETE', 'session'));
});
on(ui.act, 'click', () => ui.act.ariaDisabled === 'true' || rest(act()));
on(ui.cancel, 'click', () => laurel.disarm());
on(ui.play, 'cancel', (event) => {
  // Escape closes what is not paid for, and never hides a paid attempt.
  event.preventDefault();
  if (laurel.state.status === 'armed') laurel.disarm();
});
await guard(async () => enter(await ask('GET', 'session')));

/** Shows the lobby; without a name, the sign-in. @param {{ name: string | null } | null} session */
async function enter(session) {
  const name = session?.name ?? null;
  if (name !== null) laurel.init({ endpoint: '/laurel', player: name });
  if (name !== null) await drawLobby();
  draw({ 'player-name': name ?? '', player: name !== null, lobby: name !== null, 'sign-in': name === null });
  drawRun();
}

/** Closes a run that has ended, and draws what can be played for. */
async function drawLobby() {
  ui.play.close();
  const [challenges, { round }] = await Promise.all([laurel.challenges(), ask('GET', 'round')]);
  const playable = challenges.filter(({ metric_name }) => metric_name === 'precision');
  const cards = playable.map(({ id, name, description, fee, prize, threshold }) =>
    element('li', {}, card({ challengeId: id }, name, fee, `${description ?? ''} ${threshold} points win ${prize}.`)),
  );
  ui.challenges.replaceChildren(...cards);
  draw({ 'no-challenges': cards.length === 0, cup: round !== null });
  if (round === null) return;
  const text = `${round.purse_amount} in prizes, until ${new Date(round.closes_at).toLocaleString()}.`;
  ui['cup-card'].replaceChildren(card({ roundId: round.id }, round.tournament_name, round.entry_fee, text));
  const board = await laurel.leaderboard(round.id);
  const rows = (board.locked ? [] : board.data).map(({ rank, name, best_score, is_you }) => {
    const cells = [rank, is_you ? `${name} (you)` : name, best_score].map((cell) => element('td', {}, `${cell}`));
    return element('tr', { ariaCurrent: is_you ? 'true' : null }, ...cells);
  });
  ui.rows.replaceChildren(...rows);
  const caption = `You and your neighbours, of ${board.scored_players} on the board`;
  draw({ 'board-caption': caption, board: !board.locked, 'board-locked': board.locked === true });
}

/** @param {import('@laurel/browser').Target} target @param {string} name
 * @param {string} fee @param {string} text */
function card(target, name, fee, text) {
  offers.set(Object.values(target)[0], { name, fee });
  const button = element('button', { type: 'button', className: 'primary' }, `Play for ${fee}`);
  on(button, 'click', () => rest(laurel.arm(target)));
  return element('div', { className: 'card' }, element('p', {}, element('strong', {}, name), ` ${text}`), button);
}

/** Draws the player's run, with one button: pay, start, stop or close. The sign-in has no run. */
function drawRun() {
  const { state } = laurel;
  if (state.status === 'armed' || ui.lobby.hidden) game = {};
  if (state.status === 'idle' || ui.lobby.hidden) return ui.play.close();
  const { name, fee } = offers.get(Object.values(state.target)[0]) ?? { name: 'Your run', fee: 'the fee' };
  const [text, label, action] = stepOf(state, fee);
  act = action;
  draw({ 'play-title': name, 'play-text': text, act: label, 'play-error': '' });
  draw({ clock: state.status === 'open' && game.begunAt !== undefined, cancel: state.status === 'armed' });
  if (!ui.play.open) ui.play.showModal();
}

/** Ignores clicks until just after the work, as they meant the old action. @param {unknown} work */
async function rest(work) {
  ui.act.ariaDisabled = 'true';
  clearTimeout(resting);
  await Promise.allSettled([work]);
  resting = setTimeout(() => Object.assign(ui.act, { ariaDisabled: 'false' }), REST_MS);
  return work;
}

/** @param {Exclude<import('@laurel/browser').PlayerState, { status: 'idle' }>} state
 * @param {string} fee @returns {[text: string, label: string, action: () => unknown]} */
function stepOf(state, fee) {
  const pay = () => laurel.begin();
  if (state.status === 'armed') return [`One run costs ${fee}.`, `Pay ${fee} and play`, pay];
  if (state.status === 'paying') return ['Paying ...', 'One moment', pay];
  if (state.status === 'unconfirmed') return ['The answer was lost. You will pay only once.', 'Ask again', pay];
  if (state.status === 'ended') return [resultText(state.attempt), 'Close', drawLobby];
  if (game.score !== undefined) return [`${game.score} points.`, 'See the result', () => laurel.result()];
  if (game.begunAt === undefined)
    return ['Paid. The clock waits for you.', 'Start the clock', () => start(state.attemptId)];
  return ['Stop at five seconds. You see the first two.', 'Stop', () => stop(state.attemptId)];
}

/** @param {string} attemptId */
async function start(attemptId) {
  const started = await ask('POST', 'start', { attempt_id: attemptId });
  // The attempt has expired meanwhile.
  if (started === null) return void (await laurel.result());
  game = { begunAt: performance.now() - started.elapsed_ms };
  drawRun();
  drawClock();
}

/** @param {string} attemptId */
async function stop(attemptId) {
  // Null if the server was restarted: it has lost the clock, and the player may start another.
  game = (await ask('POST', 'stop', { attempt_id: attemptId })) ?? {};
  drawRun();
  if (game.score !== undefined) await laurel.result();
}

function drawClock() {
  const elapsedMs = game.begunAt === undefined ? VISIBLE_MS : performance.now() - game.begunAt;
  ui.clock.textContent = elapsedMs < VISIBLE_MS ? (elapsedMs / 1000).toFixed(2) : '?.??';
  if (elapsedMs < VISIBLE_MS) requestAnimationFrame(drawClock);
}

/** @param {import('@laurel/browser').Attempt} attempt */
function resultText({ outcome, tournament_round_id }) {
  if (outcome === null) return 'The run expired, and the fee was returned.';
  const score = game.score === undefined ? '' : `${game.score} points. `;
  if (tournament_round_id !== null) return `${score}You are on the board.`;
  if (outcome.award === null) return `${score}The bar was ${outcome.threshold_applied}. Once more?`;
  return `${score}You won ${outcome.award.amount}${outcome.award.paid_at === null ? ', which is under review' : ''}!`;
}

/** Sends a request to the partner's own server. Returns null for a 404, or if there is no content.
 * @param {string} method @param {string} path @param {object} [body] */
async function ask(method, path, body) {
  const headers = { 'content-type': 'application/json' };
  const response = await fetch(`/game/${path}`, { method, ...(body && { headers, body: JSON.stringify(body) }) });
  if (response.status === 404 || response.status === 204) return null;
  const code = response.status === 401 ? 'unauthorized' : '';
  if (!response.ok) throw Object.assign(new Error(`The game server answered ${response.status}.`), { code });
  return response.json();
}

/** Does what the player asks; shows failures where the player looks. @param {() => unknown} work */
async function guard(work) {
  ui.message.textContent = '';
  try {
    await work();
  } catch (error) {
    const { code = '', message } = /** @type {{ code?: string, message: string }} */ (error);
    if (code === 'unauthorized') await enter(null);
    ui[ui.play.open ? 'play-error' : 'message'].textContent = MESSAGES[code] ?? message;
  }
}

/** Adds a listener that ignores the second click of a double click.
 * @param {EventTarget} target @param {string} type @param {(event: any) => unknown} listener */
function on(target, type, listener) {
  target.addEventListener(type, (/** @type {any} */ event) => event.detail > 1 || guard(() => listener(event)));
}

/** Sets elements' texts, or shows them. @param {Record<string, string | boolean>} parts */
function draw(parts) {
  for (const [id, part] of Object.entries(parts))
    Object.assign(ui[id], typeof part === 'string' ? { textContent: part } : { hidden: !part });
}

/** @param {string} tag @param {object} properties @param {...(Node | string)} children */
function element(tag, properties, ...children) {
  const made = Object.assign(document.createElement(tag), properties);
  made.append(...children);
  return made;
}
