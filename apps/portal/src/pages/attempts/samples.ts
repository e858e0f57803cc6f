import type { Environment } from '../../api/api-types.ts';

/** The call that creates an attempt. The key stands in an environment variable. */
export function createSamples(environment: Environment, origin: string) {
  const variable = `LAUREL_${environment.toUpperCase()}_KEY`;
  return [
    {
      name: 'curl',
      text: `curl ${origin}/v1/attempts \\
  -H "X-API-Key: $${variable}" \\
  -H "Idempotency-Key: $(uuidgen)" \\
  -H "Content-Type: application/json" \\
  -d '{"challenge_id": "...", "player_ref": "player-1"}'`,
    },
    {
      name: 'SDK',
      text: `import { Laurel } from '@laurel/sdk';

const laurel = new Laurel({ apiKey: process.env.${variable}, baseUrl: '${origin}' });
const attempt = await laurel.attempts.create(
  { challenge_id: '...', player_ref: 'player-1' },
  { idempotencyKey: crypto.randomUUID() },
);`,
    },
  ];
}

/** Checks a saved receipt without Laurel. */
export function verifySamples(file: string, origin: string) {
  const keys = `--keys ${origin}/.well-known/laurel-keys.json`;
  return [{ name: 'Command line', text: `npx laurel verify-receipt ${file} ${keys}` }];
}
