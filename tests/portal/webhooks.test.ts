import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { hasChromium, launchChromium } from '../clients/chromium.ts';
import { observePage } from '../clients/observed-page.ts';
import { type Developer, expectStatus, type Hook, startWorld, type World } from '../world.ts';
import { buildPortal, openPage, placesOf, signInByPassword } from './open-portal.ts';

const stack = new AsyncDisposableStack();
let browser: Browser;
let world: World;
let origin: string;

describe.skipIf(!(await hasChromium()))('webhooks in the developer portal', () => {
  beforeAll(async () => {
    await buildPortal();
    // The second send happens only on request.
    world = stack.use(await startWorld({ environment: { webhook: { WEBHOOK_RETRY_DELAYS_SECONDS: '3600,3600' } } }));
    origin = world.stack.baseUrl;
    browser = await launchChromium();
    stack.defer(() => browser.close());
  }, 600_000);
  afterAll(() => stack.disposeAsync());

  test('a developer adds, tests, changes, turns off and deletes an endpoint', async () => {
    const developer = await world.newDeveloper();
    const { portal, program } = developer;
    // The developer types the address of this server.
    const hook = await world.newReceiver(developer);
    expectStatus(204, await portal.deleteEndpoint(hook.endpoint.id));
    await using observed = await observePage(browser, origin);
    const { page, objections } = observed;
    await signInByPassword(page, developer);
    await openPage(page, `/p/${program.id}/test/webhooks`, 'Webhooks');

    await page.getByRole('button', { name: 'Add an endpoint' }).click();
    await page.getByLabel('URL').fill(hook.endpoint.url);
    await page.getByRole('checkbox', { name: 'attempt.settled' }).check();
    await page.getByRole('button', { name: 'Add', exact: true }).click();
    const secret = await takeSecret(page, 'The signing secret');
    const [added] = expectStatus(200, await portal.listEndpoints()).body.data;
    expect(added).toMatchObject({
      url: hook.endpoint.url,
      events: ['attempt.settled'],
      program_id: program.id,
      environment: 'test',
      active: true,
    });
    const read = async () => expectStatus(200, await portal.getEndpoint(added?.id ?? '')).body;

    await page.getByRole('link', { name: hook.endpoint.url }).click();
    await page.getByRole('button', { name: 'Send a test event' }).click();
    await page.getByRole('link', { name: 'see how it was delivered' }).click();
    await page.getByText('delivered', { exact: true }).waitFor();
    const sent = await hook.find(({ json }) => json.event === 'webhook.test');
    expect(page.url()).toContain(sent.deliveryId);
    await page.getByRole('tab', { name: 'Raw' }).click();
    expect(await page.locator('pre:visible').last().textContent()).toBe(sent.body.toString());

    await page.getByRole('link', { name: 'Endpoint', exact: true }).click();
    await page.getByRole('button', { name: 'Change' }).click();
    await page.getByRole('checkbox', { name: 'attempt.settled' }).uncheck();
    await page.getByLabel('Description').fill('Staging');
    await answerDialog(page, 'Save');
    expect(await read()).toMatchObject({ events: [], description: 'Staging' });

    await page.getByRole('button', { name: 'Replace the secret' }).click();
    await page.getByText('The old secret signs nothing from now on').waitFor();
    await page.getByRole('dialog').getByRole('button', { name: 'Replace' }).click();
    const newSecret = await takeSecret(page, 'The new signing secret');
    expect(newSecret).not.toBe(secret);
    expect([page.url().includes('whsec_'), (await page.content()).includes(newSecret)]).toEqual([false, false]);

    await page.getByRole('button', { name: 'Turn off' }).click();
    await answerDialog(page, 'Turn off');
    await page.getByText('The endpoint is off').waitFor();
    expect((await read()).active).toBe(false);

    await page.getByRole('button', { name: 'Delete' }).click();
    await answerDialog(page, 'Delete');
    await page.getByText('No endpoint gets events of the test environment').waitFor();
    expect(expectStatus(200, await portal.listEndpoints()).body.data).toEqual([]);
    expect(objections).toEqual([]);
  });

  test('a developer retries a failed delivery in the sandbox', async () => {
    const developer = await world.newDeveloper();
    const { portal, program } = developer;
    const hook = await world.newReceiver(developer, { environment: 'test', answer: { status: 503, body: 'busy' } });
    const deliveryId = await failOnce(developer, hook);
    await using observed = await observePage(browser, origin);
    const { page, objections } = observed;
    await signInByPassword(page, developer);
    await openPage(page, `/p/${program.id}/test/deliveries/${deliveryId}`, 'Delivery');
    await page.getByRole('table', { name: 'Parts of send 1' }).waitFor();
    await page.getByRole('button', { name: 'Try again now' }).click();
    await page.getByRole('heading', { name: /^Send 2/ }).waitFor();
    await hook.delivery(deliveryId, ({ attempts }) => typeof attempts[1]?.duration_ms === 'number');
    // Switching the endpoint off and on again fails its pending delivery.
    for (const active of [false, true]) expectStatus(200, await portal.updateEndpoint(hook.endpoint.id, { active }));
    hook.receiver.answerWith({ status: 200 });
    await openPage(page, `/p/${program.id}/test/webhooks/${hook.endpoint.id}?status=failed`, 'Endpoint');
    await page.getByRole('table', { name: 'Deliveries' }).getByText('failed').waitFor();
    await page.getByRole('button', { name: 'Resend failed' }).click();
    await page.getByRole('button', { name: 'Send again' }).click();
    await page.getByText('One delivery is sent again.').waitFor();
    const [resent] = await hook.log({ event: 'attempt.settled', limit: 1 });
    expect(resent?.id).not.toBe(deliveryId);
    expect(await hook.delivery(resent?.id ?? '')).toMatchObject({ status: 'delivered' });
    expect(objections).toEqual([]);
  });

  test('the signature checker verifies a real delivery in the browser', async () => {
    const developer = await world.newDeveloper();
    const { portal, program } = developer;
    const hook = await world.newReceiver(developer);
    const { delivery_id: deliveryId } = expectStatus(202, await portal.sendTest(hook.endpoint.id)).body;
    const { headers } = await hook.find((request) => request.deliveryId === deliveryId);
    await hook.delivery(deliveryId);
    await using observed = await observePage(browser, origin);
    const { page, objections } = observed;
    await signInByPassword(page, developer);
    await openPage(page, `/p/${program.id}/test/deliveries/${deliveryId}`, 'Delivery');
    await page.getByRole('button', { name: 'Verify its signature' }).click();
    await page.getByRole('heading', { level: 1, name: 'Signatures' }).waitFor();
    const requests: string[] = [];
    page.on('request', (request) => requests.push(request.url()));

    await page.getByLabel('Headers').fill(JSON.stringify(headers));
    await page.getByLabel('Signing secret').fill(hook.secret);
    const verdict = page.getByRole('region', { name: 'Verdict' });
    await verdict.getByRole('heading', { name: 'Genuine', exact: true }).waitFor();
    await verdict.getByRole('heading', { name: 'webhook-signature is genuine', exact: true }).waitFor();

    const body = await page.getByLabel('Body').inputValue();
    await page.getByLabel('Body').fill(JSON.stringify(JSON.parse(body), null, 2));
    await verdict.getByRole('heading', { name: 'The body was parsed and written again' }).waitFor();
    await page.getByLabel('Body').fill(body);
    await page.getByLabel('Signing secret').fill(hook.secret.slice('whsec_'.length));
    await verdict.getByRole('heading', { name: 'The secret has lost its whsec_' }).waitFor();
    expect(requests).toEqual([]);

    await page.getByLabel('Signing secret').fill(hook.secret);
    expect(await placesOf(page, hook.secret)).toEqual([]);
    await page.getByRole('link', { name: 'Events', exact: true }).click();
    await page.getByRole('heading', { level: 1, name: 'Events' }).waitFor();
    await page.goBack();
    await page.getByRole('heading', { level: 1, name: 'Signatures' }).waitFor();
    for (const field of ['Body', 'Headers', 'Signing secret'])
      expect(await page.getByLabel(field).inputValue()).toBe('');
    expect(objections).toEqual([]);
  });
});

/** A settled attempt whose event the endpoint has refused once. */
async function failOnce({ program }: Developer, hook: Hook): Promise<string> {
  const challenge = await world.newChallenge({}, program);
  const player = await world.newPlayer({ partner: program.test });
  const created = await program.test.createAttempt({ challenge_id: challenge.id, player_ref: player.ref });
  const { id } = expectStatus(201, created).body;
  expectStatus(200, await program.test.reportOutcome(id, { score: 50 }));
  const { deliveryId } = await hook.event('attempt.settled', id);
  await hook.delivery(deliveryId, ({ attempts }) => typeof attempts[0]?.duration_ms === 'number');
  return deliveryId;
}

/** Reads the secret of the open dialog, and closes it. */
async function takeSecret(page: Page, title: string): Promise<string> {
  const dialog = page.getByRole('dialog', { name: title });
  const secret = (await dialog.locator('pre').textContent()) ?? '';
  expect(secret).toMatch(/^whsec_[0-9a-f]{64}$/);
  await dialog.getByRole('button', { name: 'I have stored it' }).click();
  await dialog.waitFor({ state: 'detached' });
  return secret;
}

async function answerDialog(page: Page, button: string): Promise<void> {
  const dialog = page.getByRole('dialog');
  await dialog.getByRole('button', { name: button, exact: true }).click();
  await dialog.waitFor({ state: 'detached' });
}
