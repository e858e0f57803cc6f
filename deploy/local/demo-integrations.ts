/**
 * The demo's integrations: an attempt whose outcome our server posts to Laurel, and one whose outcome Laurel polls from our server. An
 * integration is never removed, so a later run takes up those of an earlier one, which it recognises by a mark in their descriptors.
 */
import { payAttempt } from './demo-attempt.ts';
import { type Answer, type Call, chapter, check, type Json } from './demo-calls.ts';
import { settleByPoll } from './demo-poll.ts';
import { settleByPush } from './demo-push.ts';
import type { Webhooks } from './demo-webhooks.ts';
import type { WebhookCa } from './webhook-ca.ts';

/** Names in a descriptor that begin with `x-` are the partner's own. */
const MARK = { 'x-made-by': 'npm run demo' };
const ROUTE = '/v1/integrations';

export async function settleByIntegrations(on: {
  readonly call: (shape: Call) => Promise<Answer>;
  readonly asPartner: Record<string, string>;
  readonly run: string;
  readonly webhooks: Webhooks;
  readonly files: WebhookCa;
}): Promise<void> {
  const { call, asPartner, run } = on;
  const list = async (): Promise<readonly Json[]> => {
    const summary = ({ data }: Json) => (data as Json[]).map(describeIntegration);
    return (await call({ method: 'GET', path: ROUTE, headers: asPartner, expect: 200, summary })).body.data as Json[];
  };

  chapter('Partner: two more players of the sandbox, who pay for an attempt each');
  const pushed = await payAttempt(on, `dora-${run}`);
  const polled = await payAttempt(on, `eli-${run}`);

  chapter('Partner: which integrations do we have from earlier runs?');
  const ours = (await list()).filter((listed) => (listed.descriptor as Json)['x-made-by'] === MARK['x-made-by']);
  const find = (transport: string) => ours.find((listed) => listed.transport === transport);
  const [earlierPush, earlierPoll] = [find('push_webhook'), find('pull_poll')];

  const parts = { ...on, route: ROUTE, mark: MARK };
  const pushId = await settleByPush({ ...parts, attempt: pushed, earlier: earlierPush });
  const pollId = await settleByPoll({ ...parts, attempt: polled, earlier: earlierPoll });

  chapter('Partner: when was our server polled?');
  const lastPolledAt = (await list()).find(({ id }) => id === pollId)?.last_polled_at;
  const isLater = typeof lastPolledAt === 'string' && lastPolledAt !== earlierPoll?.last_polled_at;
  check(isLater, 'an integration must show when it was polled last');

  chapter('Partner: the demo is over, so we switch both integrations off');
  const body = { status: 'suspended' };
  for (const id of [pushId, pollId])
    await call({ method: 'PATCH', path: `${ROUTE}/${id}`, headers: asPartner, body, expect: 200 });
}

function describeIntegration({ id, transport, status, last_polled_at }: Json): string {
  const polls = transport === 'pull_poll' ? `last polled at ${last_polled_at}` : '';
  return `${id}  ${String(transport).padEnd(12)} ${String(status).padEnd(9)} ${polls}`.trimEnd();
}
