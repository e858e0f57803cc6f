/**
 * The JSON in the guides, which is written by hand: it must match Laurel's requests and responses.
 */
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Descriptor } from '@laurel/sdk';
import { CHECKOUT, createIntegrations, push } from '@laurel/testing';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { newTarget } from '../integrations/target.ts';
import { expectStatus, joinWorld, type SharedWorld } from '../world.ts';
import { bodySchemas, type DescribedBodies } from './body-schemas.ts';

interface GuideBody {
  /** The file, and the heading above the JSON. */
  readonly heading: string;
  readonly text: string;
}

const BODIES = globSync('docs/contract/*.md', { cwd: CHECKOUT }).flatMap(bodiesOf);

describe('the JSON of the guides', () => {
  let world: SharedWorld;
  beforeAll(async () => {
    world = await joinWorld();
  });
  afterAll(() => world?.[Symbol.asyncDispose]());

  test('these tests cover every JSON body of the guides', () => {
    expect(BODIES.map(({ heading }) => heading).toSorted()).toEqual([
      'docs/contract/integrations.md, "Reading your own bodies"',
      'docs/contract/integrations.md, "The canonical body"',
      'docs/contract/integrations.md, "The newest records first"',
      'docs/contract/partner-api.md, "Errors"',
      'docs/contract/partner-api.md, "Rate limit"',
    ]);
  });

  test.each([
    { heading: 'docs/contract/partner-api.md, "Errors"', body: 'createAttempt 400' },
    { heading: 'docs/contract/partner-api.md, "Rate limit"', body: 'createAttempt 429' },
  ])('the JSON of $heading is valid as $body', async ({ heading, body }) => {
    const response = await fetch(new URL('/openapi.json', world.stack.baseUrl), { headers: { connection: 'close' } });
    const schemas = bodySchemas((await response.json()) as DescribedBodies);
    expect(schemas.issuesOf(body, JSON.parse(textOf(heading)))).toEqual([]);
    // A schema that accepts everything would prove nothing.
    expect(schemas.issuesOf(body, {})).not.toEqual([]);
  });

  test('the canonical body settles the attempt that it names', async () => {
    const integration = await newTarget(world.partner);
    const player = await world.newPlayer();
    const entry = { challenge_id: (await world.newChallenge()).id, player_ref: player.ref };
    const { id } = expectStatus(201, await world.partner.createAttempt(entry)).body;
    const body = textOf('docs/contract/integrations.md, "The canonical body"').replace(/(?<="attempt_id": ")[^"]+/, id);
    expect(expectStatus(200, await push(world.http, integration, body)).body).toMatchObject({
      attempt_id: id,
      score: 87.5,
    });
  });

  test.each([
    { heading: 'docs/contract/integrations.md, "Reading your own bodies"', transport: 'push_webhook' },
    { heading: 'docs/contract/integrations.md, "The newest records first"', transport: 'pull_poll' },
  ] as const)('the descriptor of $heading is accepted', async ({ heading, transport }) => {
    const descriptor = JSON.parse(textOf(heading)) as Descriptor;
    const integrations = createIntegrations(world.partner);
    const created = await integrations.create({ transport, descriptor });
    expect(expectStatus(201, created).body.descriptor).toEqual(descriptor);
  });
});

function textOf(heading: string): string {
  return BODIES.find((body) => body.heading === heading)?.text ?? expect.fail(`no JSON stands below ${heading}`);
}

function bodiesOf(file: string): readonly GuideBody[] {
  const found: GuideBody[] = [];
  let heading = '';
  for (const [, title, text] of readFileSync(join(CHECKOUT, file), 'utf8').matchAll(
    /^#+ (.+)$|^```json\n([\s\S]*?)^```$/gm,
  )) {
    if (title !== undefined) heading = title;
    else found.push({ heading: `${file}, "${heading}"`, text: text ?? '' });
  }
  return found;
}
