import { callStack, createOperator } from '@laurel/local-infrastructure/running-stack';
import type { DemoProgram } from './seed.ts';

/**
 * The address of the portal that signs the demo's developer in once, within 15 minutes. The token
 * is in the fragment, which no browser sends, so that no log shows it.
 */
export async function makeSignInLink({
  baseUrl,
  operatorToken,
  developer,
}: {
  baseUrl: string;
  operatorToken: string;
  developer: DemoProgram['developer'];
}): Promise<string> {
  const { origin } = new URL(baseUrl);
  // A data folder of an older release has the developer's e-mail and password, but not the id.
  const { email, password } = developer;
  const session = '/api/portal/session';
  const signedIn = await callStack(origin, { method: 'POST', path: session, body: { email, password }, expect: 201 });
  const headers = { authorization: `Bearer ${signedIn.body.token}` };
  const me = await callStack(origin, { method: 'GET', path: '/api/portal/me', headers, expect: 200 });
  await callStack(origin, { method: 'DELETE', path: session, headers, expect: 204 });
  const operator = createOperator({ origin, operator_token: operatorToken });
  const path = `/api/operator/developers/${me.body.id}/sign-in-link`;
  const { token } = await operator({ method: 'POST', path, expect: 201 });
  return `${origin}/portal/sign-in#${token}`;
}
