/**
 * The page of "Stop the clock". Money goes through the browser library, the game through the partner's own routes below /game. The page
 * draws what `laurel.state` says, so that a reload at any moment leads back to where the player was.
 */
import { LaurelBrowserError, laurel } from '@laurel/browser';

const VISIBLE_MS = 2_000;

/** What the page says to the codes that a player meets; for all others, the message of the server. */
const MESSAGES = /** @type {Record<string, string>} */ ({
  insufficient_funds: 'You do not have enough play money: sign in again to get some.',
  blocked: 'You may not play for money.',
  challenge_not_available: 'This challenge is closed at the moment.',
  challenge_already_claimed: 'You have already won this prize.',
  attempt_cap_reached: 'You have bought all your runs.',
  entries_closed: 'This round takes no more entries.',
  network: 'The game server cannot be reached.',
  unauthorized: 'Your session is over: sign in again.',
});

/** The game on the screen, from its start until the result. @type {{ begunAt: number } | { score: number } | null} */
let game = null;
/** What is to be had, by its id. @type {Map<string, { name: string, fee: string }>} */
const offers = new Map();

laurel.init({ endpoint: '/laurel' });
laurel.addEventListener('statechange', drawPlay);

on('sign-in', 'submit', async (event) => {
  event.preventDefault();
  const { name } = await ask('POST', 'session', { name: find('name', HTMLInputElement).value });
  await enterLobby(name);
});
on('sign-out', 'click', async () => {
  laurel.disarm();
  await ask('DELETE', 'session');
  showSignIn();
});
on('act', 'click', act);
on('cancel', 'click', () => {
  if (laurel.state.status === 'armed') laurel.disarm();
  find('play', HTMLDialogElement).close();
});
// Escape cancels what is not paid for, and never hides an attempt that is.
on('play', 'cancel', (event) => {
  event.preventDefault();
  const cancel = find('cancel', HTMLButtonElement);
  if (!cancel.hidden) cancel.click();
});

const { name: signedIn } = await ask('GET', 'session');
if (signedIn === null) showSignIn();
else await guard(() => enterLobby(signedIn));

/** @param {string} name */
async function enterLobby(name) {
  find('player-name', HTMLElement).textContent = name;
  show('player', true);
  show('sign-in', false);
  await drawLobby();
  show('lobby', true);
  drawPlay();
}

function showSignIn() {
  show('player', false);
  show('lobby', false);
  show('sign-in', true);
}

async function drawLobby() {
  const [challenges, { round }] = await Promise.all([laurel.challenges(), ask('GET', 'round')]);
  const playable = challenges.filter(({ metric_unit }) => metric_unit === 'points');
  const cards = playable.map(({ id, name, description, fee, prize, threshold }) =>
    card({ challengeId: id }, name, `${description ?? ''} ${threshold} points win ${prize}.`, fee),
  );
  find('challenges', HTMLElement).replaceChildren(...cards.map((one) => element('li', {}, one)));
  show('no-challenges', cards.length === 0);
  show('cup', round !== null);
  if (round !== null) await drawCup(round);
}

/** @param {import('@laurel/browser').Round} round */
async function drawCup({ id, tournament_name, entry_fee, purse_amount, closes_at }) {
  const text = `${purse_amount} in prizes, until ${new Date(closes_at).toLocaleString()}.`;
  find('cup-card', HTMLElement).replaceChildren(card({ roundId: id }, tournament_name ?? 'Cup', text, entry_fee));
  const board = await laurel.leaderboard(id);
  const rows = board.locked ? [] : board.data;
  find('rows', HTMLElement).replaceChildren(
    ...rows.map(({ rank, name, best_score, is_you }) =>
      element(
        'tr',
        is_you ? { 'aria-current': 'true' } : {},
        ...[rank, is_you ? `${name} (you)` : name, best_score].map((value) => element('td', {}, String(value))),
      ),
    ),
  );
  find('board-caption', HTMLElement).textContent = `You and your neighbours, of ${board.scored_players} on the board`;
  show('board', !board.locked);
  show('board-locked', board.locked === true);
}

/**
 * @param {import('@laurel/browser').Target} target
 * @param {string} name
 * @param {string} text
 * @param {string} fee
 */
function card(target, name, text, fee) {
  offers.set('roundId' in target ? target.roundId : target.challengeId, { name, fee });
  const button = element('button', { type: 'button', class: 'primary' }, `Play for ${fee}`);
  button.addEventListener('click', () => guard(() => laurel.arm(target)));
  return element('div', { class: 'card' }, element('p', {}, element('strong', {}, name), ` ${text}`), button);
}

/** One button leads through: pay, start, stop, close. */
async function act() {
  const { status } = laurel.state;
  if (status === 'armed' || status === 'unconfirmed' || status === 'paying') await laurel.begin();
  else if (status === 'open' && game === null) await startClock(laurel.state.attemptId);
  else if (status === 'open') await stopClock(laurel.state.attemptId);
  else {
    find('play', HTMLDialogElement).close();
    await drawLobby();
  }
}

/** @param {string} attemptId */
async function startClock(attemptId) {
  const started = await ask('POST', 'start', { attempt_id: attemptId });
  // It is no longer open: it has expired since.
  if (started === null) return void (await laurel.result());
  game = { begunAt: performance.now() - started.elapsed_ms };
  drawPlay();
  requestAnimationFrame(drawClock);
}

/** @param {string} attemptId */
async function stopClock(attemptId) {
  if (game !== null && 'begunAt' in game) game = await ask('POST', 'stop', { attempt_id: attemptId });
  // A server that was restarted has forgotten the clock, and starts another.
  if (game === null) return drawPlay();
  await laurel.result();
}

function drawClock() {
  const elapsedMs = game !== null && 'begunAt' in game ? performance.now() - game.begunAt : VISIBLE_MS;
  const isVisible = elapsedMs < VISIBLE_MS;
  find('clock', HTMLElement).textContent = isVisible ? (elapsedMs / 1000).toFixed(2) : '?.??';
  if (isVisible) requestAnimationFrame(drawClock);
}

function drawPlay() {
  const { state } = laurel;
  const dialog = find('play', HTMLDialogElement);
  if (state.status === 'idle') return dialog.close();
  if (state.status === 'armed') game = null;
  const offer = offers.get('roundId' in state.target ? state.target.roundId : state.target.challengeId);
  const [text, label] = wordsFor(state, offer?.fee ?? 'the fee');
  find('play-title', HTMLElement).textContent = offer?.name ?? 'Your run';
  find('play-text', HTMLElement).textContent = text;
  find('act', HTMLElement).textContent = label;
  find('play-error', HTMLElement).textContent = '';
  show('clock', state.status === 'open' && game !== null && 'begunAt' in game);
  show('cancel', state.status === 'armed');
  if (!dialog.open) dialog.showModal();
}

/**
 * @param {Exclude<import('@laurel/browser').PlayerState, { status: 'idle' }>} state
 * @param {string} fee
 * @returns {readonly [text: string, label: string]}
 */
function wordsFor(state, fee) {
  if (state.status === 'armed') return [`One run costs ${fee}.`, `Pay ${fee} and play`];
  if (state.status === 'paying') return ['Paying ...', 'One moment'];
  if (state.status === 'unconfirmed') return ['The answer was lost. You pay once, however often you ask.', 'Ask again'];
  if (state.status === 'ended') return [resultText(state.attempt), 'Close'];
  if (game === null) return ['Paid. The clock waits for you.', 'Start the clock'];
  if ('score' in game) return [`${game.score} points.`, 'See the result'];
  return ['Stop at five seconds. You see the first two.', 'Stop'];
}

/** @param {import('@laurel/browser').Attempt} attempt */
function resultText({ outcome, tournament_round_id }) {
  if (outcome === null) return 'The run expired, and the fee was returned.';
  const score = game !== null && 'score' in game ? `${game.score} points. ` : '';
  if (tournament_round_id !== null) return `${score}You are on the board.`;
  if (outcome.award === null) return `${score}The bar was ${outcome.threshold_applied}. Once more?`;
  return `${score}You won ${outcome.award.amount}${outcome.award.paid_at === null ? ', which is under review' : ''}!`;
}

/**
 * Asks the partner's own server; null where it knows nothing of the kind.
 * @param {string} method
 * @param {string} path
 * @param {object} [body]
 */
async function ask(method, path, body) {
  const headers = { 'content-type': 'application/json' };
  const response = await fetch(`/game/${path}`, { method, ...(body && { headers, body: JSON.stringify(body) }) });
  if (response.status === 404 || response.status === 204) return null;
  if (!response.ok) throw new Error(`The game server answered ${response.status}.`);
  return response.json();
}

/**
 * Runs what a player caused, and shows what went wrong where the player looks.
 * @param {() => unknown} work
 */
async function guard(work) {
  find('message', HTMLElement).textContent = '';
  try {
    await work();
  } catch (error) {
    const { code = '', message } = /** @type {LaurelBrowserError} */ (error);
    const place = find('play', HTMLDialogElement).open ? 'play-error' : 'message';
    find(place, HTMLElement).textContent = MESSAGES[code] ?? message;
    if (error instanceof LaurelBrowserError && code === 'unauthorized') showSignIn();
  }
}

/**
 * @param {string} id
 * @param {string} type
 * @param {(event: Event) => unknown} listener
 */
function on(id, type, listener) {
  find(id, HTMLElement).addEventListener(type, (event) => guard(() => listener(event)));
}

/**
 * @template {HTMLElement} Kind
 * @param {string} id
 * @param {{ new (): Kind, prototype: Kind }} kind
 */
function find(id, kind) {
  const found = document.getElementById(id);
  if (!(found instanceof kind)) throw new Error(`The page lacks #${id}.`);
  return found;
}

/**
 * @param {string} id
 * @param {boolean} isShown
 */
function show(id, isShown) {
  find(id, HTMLElement).hidden = !isShown;
}

/**
 * @param {string} tag
 * @param {Record<string, string>} attributes
 * @param {...(Node | string)} children
 */
function element(tag, attributes, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...children);
  return made;
}
