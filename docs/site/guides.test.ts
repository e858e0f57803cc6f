import { globSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { renderGuides } from './guides.ts';
import { GUIDES } from './pages.ts';
import { parseDocument, routesOf } from './reference/document.ts';
import { samplesPage } from './samples-page.ts';
import { headingsOf } from './sections.ts';

const read = (file: string) => readFileSync(new URL(`../${file}`, import.meta.url), 'utf8');
const contractFile = (name: string) => read(`contract/${name}.md`);
const CONTRACT = contractFile('partner-api');
const DESCRIPTORS = contractFile('integrations');
const ROUTES = routesOf(parseDocument(read('openapi/partner-v1.yaml')));
const QUICK_START = contractFile('quick-start');
const SAMPLES = samplesPage((file) => read(`samples/${file}`));
const pageOf = (folder: string) => read(`${folder}/README.md`);
const PORTAL = pageOf('portal');
const PICTURES = new Set(globSync('portal/*.png', { cwd: new URL('../', import.meta.url) }));
const render = (contract: string, portal = PORTAL) =>
  renderGuides(
    {
      'partner-api': contract,
      integrations: DESCRIPTORS,
      'quick-start': QUICK_START,
      samples: SAMPLES,
      portal,
      pictures: PICTURES,
    },
    ROUTES,
  );

test('each guide is a page, and a link leads to the place of its section', () => {
  const { pages, sectionOf } = render(CONTRACT);
  expect([...pages.keys()]).toEqual(
    expect.arrayContaining([
      'quick-start',
      'concepts',
      'money',
      'idempotency',
      'errors',
      'webhooks',
      'sandbox',
      'going-live',
    ]),
  );
  expect(pages.get('idempotency')).toMatch(/^# Idempotency\n/);
  expect(pages.get('going-live')).toContain('](/idempotency#idempotency)');
  expect(pages.get('integrations')).toContain('\n### The canonical body\n');
  expect(pages.get('integrations')).toContain('](/integrations#polls-that-fail)');
  expect(pages.get('integrations')).toContain('](/integrations#pushed-outcomes)');
  expect(pages.get('integrations')).toContain('](/integrations#many-records-of-one-instant)');
  expect(sectionOf('POST /attempts')).toContain('](/concepts#attempt)');
});

test('the page of the samples shows the repository’s code, and links to the contract, which links back', () => {
  const { pages } = render(CONTRACT);
  const page = pages.get('samples') ?? '';
  for (const file of globSync('samples/*/*.*', { cwd: new URL('../', import.meta.url) })) {
    const isShown = page.includes(`\n${read(file)}`);
    expect([file, isShown]).toEqual([file, !/\/(main\.|Main\.|Program\.|go\.mod)/.test(file)]);
  }
  expect(page).toContain('](/webhooks#delivery-request)');
  expect(page).not.toMatch(/\]\([a-z]+\//);
  expect(pages.get('webhooks')).toContain('](/samples#verify-a-webhook)');
  expect(pages.get('integrations')).toContain('](/samples#push-outcomes)');
  expect(pages.get('idempotency')).toContain('](/samples#create-an-attempt)');
});

test('the page of the portal shows all its pictures, and links to the quick start, which links back', () => {
  const { pages } = render(CONTRACT);
  const page = pages.get('portal') ?? '';
  const shown = [...page.matchAll(/!\[[^\]]+\]\(\.\/pictures\/([^)]+)\)/g)].map(([, path]) => path);
  expect(shown.toSorted()).toEqual([...PICTURES].toSorted());
  expect(page).toContain('](/quick-start)');
  expect(pages.get('quick-start')).toContain('](/portal)');
  expect(() => render(CONTRACT, '# The portal\n\n![Old](old.png)\n')).toThrow(
    'a guide shows old.png, and there is no docs/portal/old.png',
  );
  const deep = CONTRACT.replace('## POST /attempts\n', '## POST /attempts\n\n![Old](../portal/attempt.png)\n');
  expect(() => render(deep).sectionOf('POST /attempts')).toThrow('the page of an operation shows no picture');
});

test('at the former address of the guide each old anchor links to the present place of its section', () => {
  const moved = render(CONTRACT).pages.get('guide') ?? '';
  expect(moved).toContain('\n- <span id="errors"></span>[Errors](/errors#errors)\n');
  expect(moved).toContain('\n- <span id="the-first-hour"></span>[The first hour](/quick-start)\n');
  expect(moved).toContain('<span id="post-attempts"></span>[POST /attempts](/reference/post-attempts#post-attempts)');
  expect(moved.match(/<span id=/g)?.length).toBeGreaterThan(40);
  expect(moved).not.toContain('undefined');
});

test('a page shows its side bar title once, and no second heading that repeats it', () => {
  const { pages } = render(CONTRACT);
  for (const { path, title } of GUIDES.flatMap((group) => group.pages)) {
    const headings = headingsOf(pages.get(path) ?? '');
    expect(headings.filter((heading) => heading === title)).toEqual([title]);
    expect(headings[0]).toBe(title);
  }
});

test('adjacent code blocks for the SDK and for curl become the tabs of one group', () => {
  const page = render(CONTRACT).pages.get('quick-start') ?? '';
  const pairs = QUICK_START.match(/^```js \[SDK\]$/gm)?.length;
  expect(page.match(/^::: code-group$/gm)?.length).toBe(pairs);
  expect(page).toMatch(
    /^::: code-group\n\n```js \[SDK\]\n\/\/ play\.mjs\n[\s\S]*?^```\n\n```sh \[curl\]\n[\s\S]*?^```\n\n:::\n/m,
  );
});

test('a section that is on no page is refused', () => {
  expect(() => render(`${CONTRACT}\n## Something new\n\nText.\n`)).toThrow(
    'the section "Something new" stands on no page: docs/site/pages.ts',
  );
});

test.each(['#no-such-heading', '../contract/rules.md', '../ARCHITECTURE.md'])(
  'a link to %s, which the site does not have, is refused',
  (href) => {
    expect(() => render(CONTRACT.replace('## Money\n', `## Money\n\n[x](${href})\n`))).toThrow(
      `a guide links to ${href}, which is not on the site`,
    );
  },
);
