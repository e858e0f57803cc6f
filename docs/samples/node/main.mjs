// Runs one sample on the bytes of standard input.
//
// node main.mjs verify-webhook <webhook-id> <webhook-timestamp> <webhook-signature>
// node main.mjs sign-push <id of the integration>
// node main.mjs create-attempt <idempotency key>
import { readFileSync } from 'node:fs';
import { createAttempt } from './create-attempt.mjs';
import { DEADLINE_MS, Refused, Unanswered } from './send.mjs';
import { pushOutcomes } from './sign-push.mjs';
import { verifyWebhook, WebhookRefused } from './verify-webhook.mjs';

async function run(command, args, body) {
  const { env } = process;
  const seconds = env.LAUREL_DEADLINE_SECONDS;
  const deadlineMs = seconds === undefined ? DEADLINE_MS : 1_000 * Number(seconds);
  switch (command) {
    case 'verify-webhook':
      verifyWebhook(env.LAUREL_WEBHOOK_SECRETS.split(' '), ...args, body);
      return body;
    case 'sign-push':
      return pushOutcomes(env.LAUREL_BASE_URL, args[0], env.LAUREL_INTEGRATION_SECRET, body, deadlineMs);
    case 'create-attempt':
      return createAttempt(env.LAUREL_BASE_URL, env.LAUREL_API_KEY, args[0], body, deadlineMs);
    default:
      throw new Error(`there is no sample ${command}`);
  }
}

const [command, ...args] = process.argv.slice(2);
try {
  process.stdout.write(await run(command, args, readFileSync(0)));
} catch (error) {
  if (error instanceof Refused || error instanceof WebhookRefused) {
    console.error(`refused: ${error.message}`);
    process.exitCode = 1;
  } else if (error instanceof Unanswered) {
    console.error(`unanswered: ${error.message}`);
    process.exitCode = 2;
  } else {
    throw error;
  }
}
