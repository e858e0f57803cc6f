/**
 * The demo's integrations: for one attempt our server posts the outcome to Laurel, and for another
 * Laurel polls the outcome from our server.
 * An integration is never removed, so a later run reuses those of an earlier run, which it finds by
 * a mark in their descriptors.
 */
import type { Integration, IntegrationList, Laurel } from '@laurel/sdk';
import type { WebhookCa } from '../stack/webhook-ca.ts';
import { payAttempt } from './attempt.ts';
import { settleByPoll } from './poll.ts';
import { chapter, check, printOnly } from './print.ts';
import { settleByPush } from './push.ts';
import type { Webhooks } from './webhooks.ts';

/** Names in a descriptor that begin with `x-` are free for the partner. */
const MARK = { 'x-made-by': 'npm run demo' };

export async function settleByIntegrations(on: {
  readonly laurel: Laurel;
  readonly origin: string;
  readonly run: string;
  readonly webhooks: Webhooks;
  readonly files: WebhookCa;
}): Promise<void> {
  const { laurel, run } = on;
  const list = async (): Promise<readonly Integration[]> => {
    const lines = ({ data }: IntegrationList) => data.map(describeIntegration);
    return (await printOnly(lines, () => laurel.integrations.list())).data;
  };

  chapter('Partner: two more players of the sandbox pay for an attempt each');
  const pushed = await payAttempt(laurel, `dora-${run}`);
  const polled = await payAttempt(laurel, `eli-${run}`);

  chapter('Partner: which integrations do we have from earlier runs?');
  const ours = (await list()).filter(({ descriptor }) => descriptor['x-made-by'] === MARK['x-made-by']);
  const find = (transport: string) => ours.find((listed) => listed.transport === transport);
  const [earlierPush, earlierPoll] = [find('push_webhook'), find('pull_poll')];

  const parts = { ...on, mark: MARK };
  const pushId = await settleByPush({ ...parts, attempt: pushed, earlier: earlierPush });
  const pollId = await settleByPoll({ ...parts, attempt: polled, earlier: earlierPoll });

  chapter('Partner: when was our server polled?');
  const lastPolledAt = (await list()).find(({ id }) => id === pollId)?.last_polled_at ?? null;
  const isLater = lastPolledAt !== null && lastPolledAt !== earlierPoll?.last_polled_at;
  check(isLater, 'an integration must show when it was polled last');

  chapter('Partner: the demo is over, so we switch both integrations off');
  for (const id of [pushId, pollId]) await laurel.integrations.update(id, { status: 'suspended' });
}

function describeIntegration({ id, transport, status, last_polled_at }: Integration): string {
  const polls = transport === 'pull_poll' ? `last polled at ${last_polled_at}` : '';
  return `${id}  ${transport.padEnd(12)} ${status.padEnd(9)} ${polls}`.trimEnd();
}
