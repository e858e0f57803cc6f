import { globSync } from 'node:fs';
import { SITE_FOLDER } from '@laurel/docs-site/inputs';
import axe, { type AxeResults } from 'axe-core';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { eventually, joinWorld } from '../world.ts';
import { bodySchemas, type DescribedBodies } from './body-schemas.ts';
import { buildOnce } from './build-once.ts';
import { hasChromium, launchChromium } from './chromium.ts';
import { type ObservedPage, observePage } from './observed-page.ts';

const COLOUR_SCHEMES = ['light', 'dark'] as const;
type ColourScheme = (typeof COLOUR_SCHEMES)[number];

const WIDE = { width: 1280, height: 720 };
const PHONE = { width: 390, height: 800 };

interface Visit {
  /** The path, such as `/docs/` or `/docs/errors`. */
  readonly path: string;
  readonly objections: readonly string[];
  readonly inaccessible: Readonly<Record<ColourScheme, readonly string[]>>;
  /** The elements that are wider than their column, on a phone or a laptop. */
  readonly cutOff: readonly string[];
  /** The links to this origin, as paths. */
  readonly links: readonly string[];
  readonly ids: ReadonlySet<string>;
  readonly examples: readonly { readonly body: string; readonly name: string; readonly text: string }[];
}

const stack = new AsyncDisposableStack();
let browser: Browser;
let origin: string;
/** Every page of the built site. */
const visits: Visit[] = [];

describe.skipIf(!(await hasChromium()))('the documentation site, in Chromium', () => {
  beforeAll(async () => {
    await buildOnce(SITE_FOLDER);
    origin = stack.use(await joinWorld()).stack.baseUrl;
    browser = await launchChromium();
    stack.defer(() => browser.close());
    const paths = globSync('**/*.html', { cwd: SITE_FOLDER.dist })
      .filter((file) => file !== '404.html')
      .map((file) => `/docs/${file.replace(/(?:^|(?<=\/))index\.html$|\.html$/, '')}`)
      .toSorted();
    // Each window loads half of the pages in one colour scheme, and then shows them in both.
    await Promise.all(
      COLOUR_SCHEMES.map(async (colorScheme) => {
        await using observed = await observePage(browser, origin, { viewport: WIDE, reducedMotion: 'reduce' });
        for (let path = paths.shift(); path !== undefined; path = paths.shift())
          visits.push(await visit(observed, path, colorScheme));
      }),
    );
  }, 600_000);
  afterAll(() => stack.disposeAsync());

  test('every page obeys the content security policy and logs no error', () => {
    expect(visits.length).toBeGreaterThan(25);
    expect(visits.flatMap(({ objections }) => objections)).toEqual([]);
  });

  test.each(COLOUR_SCHEMES)('no page has a serious accessibility violation in %s colours', (colorScheme) => {
    expect(visits.flatMap(({ path, inaccessible }) => inaccessible[colorScheme].map((it) => `${path} ${it}`))).toEqual(
      [],
    );
  });

  test('every page can be reached from the first page', () => {
    const idsOf = new Map(visits.map(({ path, ids }) => [path, ids]));
    const isAlive = (link: string) => {
      const [target = '', anchor = ''] = link.split('#');
      const ids = idsOf.get(target);
      return (
        target === '/openapi.json' || (ids !== undefined && (anchor === '' || ids.has(decodeURIComponent(anchor))))
      );
    };
    const dead = visits.flatMap(({ path, links }) =>
      links.filter((link) => !isAlive(link)).map((link) => `${path} -> ${link}`),
    );
    expect(dead).toEqual([]);
    const fromStart = new Set(visits.find(({ path }) => path === '/docs/')?.links.map((link) => link.split('#')[0]));
    // An address of earlier releases, which old links use.
    expect([...idsOf.keys()].filter((path) => !fromStart.has(path))).toEqual(['/docs/guide']);
  });

  test('every example of the reference is valid against its schema', async () => {
    const schemas = bodySchemas(
      (await (await fetch(`${origin}/openapi.json`, { headers: { connection: 'close' } })).json()) as DescribedBodies,
    );
    const examples = visits.flatMap((one) => one.examples);
    const issues = examples.flatMap(({ body, name, text }) =>
      schemas.issuesOf(body, JSON.parse(text)).map((issue) => `${body} ${name}: ${issue}`),
    );
    expect(issues).toEqual([]);
    const shown = new Set(examples.map(({ body }) => body));
    expect(schemas.names.length).toBeGreaterThan(60);
    expect(schemas.names.filter((name) => !shown.has(name))).toEqual([]);
  });

  test('the search finds a word of the guides and opens the page of that word', async () => {
    await using observed = await observePage(browser, origin);
    const { page, objections } = observed;
    await open(page, '/docs/');
    await page.keyboard.press('/');
    await page.locator('#localsearch-input').fill('idempotency');
    const first = page.locator('.VPLocalSearchBox .result').first();
    await first.waitFor();
    expect(await first.textContent()).toContain('Idempotency');
    // An excerpt stands below each title.
    await expect.poll(() => first.locator('.excerpt').textContent()).toContain('need the header Idempotency-Key');
    await first.click();
    await page.waitForURL(`${origin}/docs/idempotency**`);
    expect(objections).toEqual([]);
  });

  test('the side bar shows the summary and the method of each operation', async () => {
    await using observed = await observePage(browser, origin, { viewport: { width: 1280, height: 900 } });
    const { page } = observed;
    await open(page, '/docs/reference/post-attempts');
    const active = page.locator('.VPSidebar .is-active.is-link');
    expect((await active.textContent())?.trim()).toMatch(/^POST Create an attempt/);
    expect(await active.locator('.method').textContent()).toBe('POST');
    expect(await page.locator('h1').textContent()).toContain('Create an attempt');
    const sideBar = await sizesOf(page, '.VPSidebar, .VPSidebar .text');
    expect(sideBar.length).toBeGreaterThan(20);
    expect(sideBar.filter(isCutOff)).toEqual([]);
  });

  test('no block of code scrolls at a width of 1,300 px', async () => {
    await using observed = await observePage(browser, origin, { viewport: { width: 1300, height: 900 } });
    const { page } = observed;
    for (const path of ['/docs/quick-start', '/docs/errors', '/docs/reference/post-attempts']) {
      await open(page, path);
      const blocks = await sizesOf(page, '.vp-doc pre');
      expect(blocks.length).toBeGreaterThan(0);
      expect(blocks.filter(isCutOff)).toEqual([]);
    }
    await open(page, '/docs/quick-start');
    const lines: readonly { readonly text: string; readonly height: number }[] = await page.$$eval(
      '.vp-doc pre .line',
      (all) => all.map((line) => ({ text: line.textContent ?? '', height: line.getBoundingClientRect().height })),
    );
    expect(lines.length).toBeGreaterThan(100);
    const { height } = lines[0] ?? expect.fail('the page has no line of code');
    expect(lines.filter((line) => line.height > 1.5 * height).map(({ text }) => text)).toEqual([]);
  });

  test('a table shows all its columns at widths of 390 and 1,280 px', () => {
    expect(visits.flatMap(({ cutOff }) => cutOff)).toEqual([]);
  });

  test('a deep link shows its heading', async () => {
    await using observed = await observePage(browser, origin);
    await open(observed.page, '/docs/webhooks#delivery-behaviour');
    await expect.poll(() => isInView(observed.page, 'delivery-behaviour')).toBe(true);
    expect(await isInView(observed.page, 'endpoint-registration')).toBe(false);
  });

  test('a reader who chooses the dark colours keeps them on other pages', async () => {
    await using observed = await observePage(browser, origin, {
      colorScheme: 'light',
      viewport: { width: 1400, height: 900 },
    });
    const { page, objections } = observed;
    await open(page, '/docs/reference/post-attempts');
    const light = await colourOfCode(page);
    await page.locator('.VPNavBar .VPSwitchAppearance').first().click();
    await open(page, '/docs/reference/post-attempts');
    expect(await isDark(page)).toBe(true);
    const dark = await colourOfCode(page);
    expect(new Set(light).size).toBeGreaterThan(2);
    expect(new Set(dark).size).toBeGreaterThan(2);
    expect(dark).not.toEqual(light);
    expect(objections).toEqual([]);
  });

  test.each([
    ['/docs', '/docs/'],
    ['/docs/guide', '/docs/guide'],
    ['/docs/integrations', '/docs/integrations'],
  ])('%s, an address of an earlier release, leads to a page of the site', async (path, target) => {
    await using observed = await observePage(browser, origin);
    await open(observed.page, path);
    expect(new URL(observed.page.url()).pathname).toBe(target);
  });

  test('a deep link of an earlier release shows a link to the section’s new place', async () => {
    await using observed = await observePage(browser, origin);
    const { page } = observed;
    await open(page, '/docs/guide#delivery-behaviour');
    const link = page.locator('li:has([id="delivery-behaviour"]) a');
    await expect.poll(() => page.evaluate("document.querySelector(':target')?.id")).toBe('delivery-behaviour');
    await link.click();
    await page.waitForURL(`${origin}/docs/webhooks#delivery-behaviour`);
  });
});

/** Loads a page in the first colour scheme; then shows it in both, on a phone and on a laptop. */
async function visit({ page, objections }: ObservedPage, path: string, first: ColourScheme): Promise<Visit> {
  const earlier = objections.length;
  await page.emulateMedia({ colorScheme: first });
  await open(page, path);
  const issuesIn = async (colorScheme: ColourScheme) => {
    await page.emulateMedia({ colorScheme });
    const isShown = async () => (await isDark(page)) === (colorScheme === 'dark') || undefined;
    await eventually(isShown, `${path} is ${colorScheme}`);
    return seriousIssues(page);
  };
  const hrefs: readonly string[] = await page.$$eval('a[href]', (links) =>
    links.map((link) => link.getAttribute('href') ?? ''),
  );
  const urls = hrefs.map((href) => new URL(href, page.url())).filter((url) => url.origin === origin);
  return {
    path,
    links: urls.map(({ pathname, hash }) => pathname + hash),
    ids: new Set(await page.$$eval('[id]', (elements) => elements.map(({ id }) => id))),
    examples: await page.$$eval('.example', (blocks) =>
      blocks.map((block) => ({
        body: block.getAttribute('data-body') ?? '',
        name: block.getAttribute('data-example') ?? '',
        text: block.querySelector('pre')?.textContent ?? '',
      })),
    ),
    inaccessible: { light: await issuesIn('light'), dark: await issuesIn('dark') },
    cutOff: await cutOffIn(page, path),
    objections: objections.slice(earlier).map((objection) => `${path} ${objection}`),
  };
}

/** A table grows beyond its column and does not scroll, so each is compared with its parent. */
async function cutOffIn(page: Page, path: string): Promise<readonly string[]> {
  const found: string[] = [];
  for (const window of [PHONE, WIDE]) {
    await page.setViewportSize(window);
    const wide = await page.$$eval('.vp-doc table, body', (elements) =>
      elements
        .filter((element) => element.scrollWidth > (element.parentElement?.clientWidth ?? 0))
        .map(({ textContent }) => (textContent ?? '').slice(0, 60)),
    );
    found.push(...wide.map((text) => `${path} in ${window.width} px: ${text}`));
  }
  return found;
}

interface Size {
  readonly text: string;
  readonly shown: number;
  readonly needed: number;
}

/** The shown width of each element, and the width that its content needs. */
function sizesOf(page: Page, selector: string): Promise<readonly Size[]> {
  return page.$$eval(selector, (elements) =>
    elements.map(({ textContent, clientWidth, scrollWidth }) => ({
      text: (textContent ?? '').slice(0, 60),
      shown: clientWidth,
      needed: scrollWidth,
    })),
  );
}

function isCutOff({ shown, needed }: Size): boolean {
  return needed > shown;
}

/** Opens a page and waits until its scripts have hydrated it. */
async function open(page: Page, path: string): Promise<void> {
  await page.goto(path, { waitUntil: 'commit' });
  await page.waitForFunction(hasApp);
  await page.waitForLoadState('load');
}

/**
 * Runs in the page. It is a function and not a text, because the site's policy forbids the page to
 * evaluate a text.
 */
function hasApp(): boolean {
  const { document } = globalThis as unknown as {
    document: { querySelector(selector: string): { readonly __vue_app__?: object } | null };
  };
  return document.querySelector('#app')?.__vue_app__ !== undefined;
}

async function seriousIssues(page: Page): Promise<readonly string[]> {
  if (!(await page.evaluate("'axe' in window"))) await page.evaluate(axe.source);
  // Excluded are the examples of the reference, which have thousands of coloured spans. The guides'
  // blocks check the same colours.
  const violations: AxeResults['violations'] = await page.evaluate(
    "axe.run({ exclude: ['.example pre'] }, { resultTypes: ['violations'], runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa'] }).then(({ violations }) => violations)",
  );
  return violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html.slice(0, 120)).join(' ')}`);
}

async function isDark(page: Page): Promise<boolean> {
  return /\bdark\b/.test((await page.locator('html').getAttribute('class')) ?? '');
}

async function isInView(page: Page, id: string): Promise<boolean> {
  const box = await page.locator(`[id="${id}"]`).boundingBox();
  return box !== null && box.y >= 0 && box.y + box.height <= (page.viewportSize()?.height ?? 0);
}

function colourOfCode(page: Page): Promise<readonly string[]> {
  return page.evaluate(
    "[...document.querySelectorAll('.example pre span')].map((span) => getComputedStyle(span).color)",
  );
}
