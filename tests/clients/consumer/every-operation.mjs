// A partner's server on any runtime: it calls every operation of /v1 and of the sandbox once and
// prints the results. Its one argument is JSON: {baseUrl, apiKey, challengeId, calibratingId,
// roundId, playerRef, email, run, receipt, keyList}.
import { Laurel, LaurelError } from '@laurel/sdk';
import { verify } from './verifications.mjs';

const input = JSON.parse(process.argv.at(-1));
const { baseUrl, apiKey, challengeId, calibratingId, roundId, playerRef, email, run } = input;
const laurel = new Laurel({ apiKey, baseUrl });
const distribution = { p5: 1, p25: 2, p50: 3, p75: 4, p95: 5 };

const link = await laurel.players.link({ player_ref: playerRef, email });
const challenges = await laurel.challenges.list({ player_ref: playerRef });
const seeded = await laurel.challenges.seedDistribution(
  calibratingId,
  { distribution, sample_size: 500 },
  { idempotencyKey: `seed-${run}` },
);

const key = { idempotencyKey: `create-${run}` };
const entry = { challenge_id: challengeId, player_ref: playerRef };
const attempt = await laurel.attempts.create(entry, key);
const createdAgain = await laurel.attempts.create(entry, key).withResponse();
const outcome = await laurel.attempts.reportOutcome(attempt.id, { score: 1 });
const reportedAgain = await laurel.attempts.reportOutcome(attempt.id, { score: 1 }).withResponse();
const retrieved = await laurel.attempts.retrieve(attempt.id);
const refusal = await laurel.attempts.reportOutcome(attempt.id, { score: 2 }).catch((error) => error);

const tournaments = await laurel.tournaments.list();
const board = await laurel.rounds.leaderboard(roundId, { player_ref: playerRef });

const integration = await laurel.integrations.create({ transport: 'push_webhook' });
const rotated = await laurel.integrations.rotateSecret(integration.id);
await laurel.integrations.retirePreviousSecret(integration.id);
const active = await laurel.integrations.update(integration.id, { status: 'active' });
const integrations = await laurel.integrations.list();

const player_ref = `player-${run}`;
await laurel.sandbox.createPlayer({ player_ref, funds: '5.00' });
const paid = await laurel.attempts.create(
  { challenge_id: challengeId, player_ref },
  { idempotencyKey: `expire-${run}` },
);
const expired = await laurel.sandbox.expireAttempt(paid.id);
const held = await laurel.sandbox.holdNextAward(player_ref);
const last = await laurel.sandbox.closeEntries(roundId);
const ended = await laurel.sandbox.closeRound(roundId);
const isRefunded = await hasEvent(({ event, body }) => event === 'attempt.refunded' && body.includes(expired.id));
const noDelivery = await laurel.sandbox.retryDelivery(attempt.id).catch((error) => error);

/** An event can be read once a worker has recorded it. */
async function hasEvent(isWanted) {
  const deadline = Date.now() + 20_000;
  let page = await laurel.sandbox.listEvents({ from: 'oldest' });
  while (!page.data.some(isWanted) && Date.now() < deadline) {
    await new Promise((resolve) => setTimeout(resolve, 250));
    page = await laurel.sandbox.listEvents({ after: page.next_cursor });
  }
  return page.data.some(isWanted);
}

console.log(
  JSON.stringify({
    linked: link.player_ref === playerRef,
    offered: challenges.data.some(({ id }) => id === challengeId),
    source: seeded.calibration_source,
    charged: attempt.fee_charged,
    createdOnce: createdAgain.replayed && createdAgain.data.id === attempt.id,
    reportedOnce: reportedAgain.replayed && reportedAgain.data.receipt_id === outcome.receipt_id,
    status: retrieved.status,
    refusal: refusal instanceof LaurelError && [refusal.code, refusal.status, refusal.idempotencyKey],
    tournaments: tournaments.data.length > 0,
    masked: !('data' in board) && board.reason,
    rotated: rotated.signing_secret !== integration.signing_secret && rotated.signing_secret.length,
    active: active.status,
    listed: integrations.data.some(({ id }) => id === integration.id),
    expired: [expired.status, expired.fee_charged],
    held: held === undefined,
    entriesClosed: last.status === 'open' && last.entries_close_at < last.closes_at,
    ended: ended.status,
    refunded: isRefunded,
    noDelivery: noDelivery instanceof LaurelError && noDelivery.code,
    verified: await verify(input),
  }),
);
