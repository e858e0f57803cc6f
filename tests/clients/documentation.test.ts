import { spawnSync } from 'node:child_process';
import { globSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import axe from 'axe-core';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { joinWorld, type SharedWorld } from '../world.ts';
import { bodySchemas } from './body-schemas.ts';
import { launchChromium } from './chromium.ts';
import { observePage } from './observed-page.ts';

const SITE = fileURLToPath(new URL('../../docs/site/', import.meta.url));

const stack = new AsyncDisposableStack();
let world: SharedWorld;
let browser: Browser;
let origin: string;
/** `/docs/`, `/docs/errors`: from the files of the built site. */
let paths: readonly string[];

beforeAll(async () => {
  const built = spawnSync(process.execPath, [`${SITE}build.ts`], { encoding: 'utf8' });
  expect(built.status, built.stderr).toBe(0);
  paths = globSync('**/*.html', { cwd: `${SITE}dist` })
    .filter((file) => file !== '404.html')
    .map((file) => `/docs/${file.replace(/(?:^|(?<=\/))index\.html$|\.html$/, '')}`)
    .toSorted();
  world = stack.use(await joinWorld());
  origin = world.stack.baseUrl;
  browser = await launchChromium();
  stack.defer(() => browser.close());
});
afterAll(() => stack.disposeAsync());

describe.each(['light', 'dark'] as const)('in %s', (colorScheme) => {
  test('every page keeps to the policy and to its origin, logs no error, and is accessible', async () => {
    await using observed = await observePage(browser, origin, { colorScheme });
    const { page, objections } = observed;
    const inaccessible: string[] = [];
    for (const path of paths) {
      await open(page, path);
      expect(await page.evaluate(() => document.documentElement.classList.contains('dark'))).toBe(
        colorScheme === 'dark',
      );
      inaccessible.push(...(await seriousIssues(page)).map((issue) => `${path}: ${issue}`));
    }
    expect(paths.length).toBeGreaterThan(25);
    expect(objections).toEqual([]);
    expect(inaccessible).toEqual([]);
  });
});

test('every page can be reached from the first one, and no link or anchor is dead', async () => {
  await using observed = await observePage(browser, origin);
  const links = new Map<string, readonly string[]>();
  const anchors = new Map<string, ReadonlySet<string>>();
  for (const path of paths) {
    await open(observed.page, path);
    const hrefs = await observed.page.$$eval('a[href]', (found) =>
      found.map((link) => (link as HTMLAnchorElement).href),
    );
    links.set(
      path,
      hrefs.filter((href) => href.startsWith(origin)).map((href) => href.slice(origin.length)),
    );
    anchors.set(path, new Set(await observed.page.$$eval('[id]', (found) => found.map(({ id }) => id))));
  }
  const dead = [...links].flatMap(([path, hrefs]) =>
    hrefs.flatMap((href) => {
      const [target = '', anchor] = href.split('#');
      if (target === '/openapi.json') return [];
      const known = anchors.get(target);
      const isAlive = known !== undefined && (!anchor || known.has(decodeURIComponent(anchor)));
      return isAlive ? [] : [`${path} -> ${href}`];
    }),
  );
  expect(dead).toEqual([]);
  const fromStart = new Set(links.get('/docs/')?.map((href) => href.split('#')[0]));
  expect(paths.filter((path) => !fromStart.has(path))).toEqual([]);
});

test('every example of the reference is valid against its schema, and every body with a schema has one', async () => {
  const document = await (await fetch(`${origin}/openapi.json`, { headers: { connection: 'close' } })).json();
  const schemas = bodySchemas(document);
  await using observed = await observePage(browser, origin);
  const shown = new Set<string>();
  const issues: string[] = [];
  for (const path of paths.filter((one) => one.startsWith('/docs/reference/'))) {
    await open(observed.page, path);
    const examples = await observed.page.$$eval('.example', (found) =>
      found.map((example) => ({
        body: example.getAttribute('data-body') ?? '',
        name: example.getAttribute('data-example') ?? '',
        text: example.querySelector('pre')?.textContent ?? '',
      })),
    );
    for (const { body, name, text } of examples) {
      shown.add(body);
      issues.push(...schemas.issuesOf(body, JSON.parse(text)).map((issue) => `${body} ${name}: ${issue}`));
    }
  }
  expect(issues).toEqual([]);
  expect(schemas.names.length).toBeGreaterThan(60);
  expect(schemas.names.filter((name) => !shown.has(name))).toEqual([]);
});

test('the search finds a word of the guides and opens its page', async () => {
  await using observed = await observePage(browser, origin);
  const { page, objections } = observed;
  await open(page, '/docs/');
  await page.keyboard.press('/');
  await page.locator('#localsearch-input').fill('idempotency');
  const first = page.locator('.VPLocalSearchBox .result').first();
  await first.waitFor();
  expect(await first.textContent()).toContain('Idempotency');
  await first.click();
  await page.waitForURL(`${origin}/docs/idempotency**`);
  expect(objections).toEqual([]);
});

test('a deep link shows its heading', async () => {
  await using observed = await observePage(browser, origin);
  await open(observed.page, '/docs/webhooks#delivery-behaviour');
  await expect.poll(() => isInView(observed.page, 'delivery-behaviour')).toBe(true);
  expect(await isInView(observed.page, 'endpoint-registration')).toBe(false);
});

test('a reader who chooses the dark colours keeps them, and code has colours in both', async () => {
  await using observed = await observePage(browser, origin, {
    colorScheme: 'light',
    viewport: { width: 1400, height: 900 },
  });
  const { page, objections } = observed;
  await open(page, '/docs/reference/post-attempts');
  const light = await colourOfCode(page);
  await page.locator('.VPNavBar .VPSwitchAppearance').first().click();
  await open(page, '/docs/reference/post-attempts');
  expect(await page.evaluate(() => document.documentElement.className)).toContain('dark');
  const dark = await colourOfCode(page);
  expect(new Set(light).size).toBeGreaterThan(2);
  expect(new Set(dark).size).toBeGreaterThan(2);
  expect(dark).not.toEqual(light);
  expect(objections).toEqual([]);
});

test.each([
  ['/docs', '/docs/'],
  ['/docs/guide', '/docs/'],
  ['/docs/guide#errors', '/docs/'],
  ['/docs/integrations', '/docs/integrations'],
])('%s, an address of earlier releases, leads to a page of the site', async (path, target) => {
  await using observed = await observePage(browser, origin);
  await open(observed.page, path);
  expect(new URL(observed.page.url()).pathname).toBe(target);
});

/** Opens a page and waits until its scripts have taken over what the server sent. */
async function open(page: Page, path: string): Promise<void> {
  await page.goto(path, { waitUntil: 'networkidle' });
  await page.waitForFunction(() => '__vue_app__' in (document.querySelector('#app') ?? {}));
}

async function seriousIssues(page: Page): Promise<readonly string[]> {
  await page.evaluate(axe.source);
  const { violations } = (await page.evaluate('axe.run()')) as axe.AxeResults;
  return violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html.slice(0, 120)).join(' ')}`);
}

function isInView(page: Page, id: string): Promise<boolean> {
  return page.evaluate((wanted) => {
    const { top, bottom } = document.getElementById(wanted)?.getBoundingClientRect() ?? { top: -1, bottom: -1 };
    return top >= 0 && bottom <= innerHeight;
  }, id);
}

function colourOfCode(page: Page): Promise<readonly string[]> {
  return page.$$eval('.example pre span', (spans) => spans.map((span) => getComputedStyle(span).color));
}
