/**
 * The guides: puts the contract's sections on their pages, and makes each link lead to the page of
 * its section, and each picture to its file.
 */
import { posix } from 'node:path';
import { GUIDES, type GuidePage, MOVED_PAGE, MOVED_SECTIONS, NOT_ON_THE_SITE, operationPath } from './pages.ts';
import { anchorOf, headingsOf, outsideFences, prefaceOf, raiseHeadings, type Section, sectionsOf } from './sections.ts';

/** The files that the site shows: those of docs/contract by name, and those of other folders. */
export interface GuideFiles {
  readonly 'partner-api': string;
  readonly integrations: string;
  readonly 'quick-start': string;
  readonly samples: string;
  readonly portal: string;
  /** The pictures that the guides may show, by their path below docs/. */
  readonly pictures: ReadonlySet<string>;
}

/** The folder of the site's pages that has the pictures, each at its path below docs/. */
export const PICTURES = 'pictures';

export interface Guides {
  /** Markdown by page, for example `quick-start`. */
  readonly pages: ReadonlyMap<string, string>;
  /**
   * The contract's section on an operation, for example `POST /attempts`. Throws if there is none.
   */
  sectionOf(operation: string): string;
}

/**
 * Renders the guides. Throws if a section has no page or two, or a link leads nowhere on the site.
 */
export function renderGuides(files: GuideFiles, operations: readonly { method: string; path: string }[]): Guides {
  const sections = new Map(sectionsOf(files['partner-api']).map((section) => [section.title, section]));
  const guides = GUIDES.flatMap(({ pages }) => pages);
  const places = placesOf(sections, guides, operations, files);
  const relink = (markdown: string, folder = 'contract') =>
    withCodeGroups(relinked(withPictures(markdown, folder, files.pictures), places));

  const pages = guides.map((guide) => {
    if (guide.file !== undefined && guide.file !== 'integrations')
      return [guide.path, relink(files[guide.file], FOLDERS[guide.file])] as const;
    const parts = guide.sections.map((title) => sections.get(title) ?? missing(title));
    const file = guide.file === undefined ? [] : sectionsOf(files.integrations);
    const preface = guide.file === undefined ? '' : `## Descriptors\n\n${prefaceOf(files.integrations)}\n\n`;
    const own = relink(sectionsAsPage(guide, parts));
    const rest = preface + file.map(({ title, body }) => `### ${title}\n\n${lowerHeadings(body)}\n`).join('\n');
    return [guide.path, `${own}\n${relink(rest)}`] as const;
  });
  return {
    pages: new Map([...pages, [MOVED_PAGE, movedPage([...sections.values()], places)]]),
    sectionOf: (operation) => {
      const { body } = sections.get(operation) ?? missing(operation);
      // The addresses of pictures are those of pages in the first folder.
      if (/!\[/.test(body)) throw new Error(`${operation}: the page of an operation shows no picture`);
      return relink(raiseHeadings(body));
    },
  };
}

/** The link targets with which the files of docs/contract name each other. */
const CONTRACT_LINK = ['partner-api', 'md'].join('.');
const QUICK_START_LINK = ['quick-start', 'md'].join('.');
const DESCRIPTORS_LINK = ['integrations', 'md'].join('.');
/** How docs/contract links to the samples and to the portal, and they to it. */
const SAMPLES_LINK = '../samples/README.md';
const PORTAL_LINK = '../portal/README.md';
const FROM_OTHERS = '../contract/';
/** The path below docs/ of a file that is a page of its own. */
const FOLDERS = { 'quick-start': 'contract', samples: 'samples', portal: 'portal' } as const;

/** The page and the anchor of every heading that a link may name. */
type Places = ReadonlyMap<string, string>;

function placesOf(
  sections: ReadonlyMap<string, Section>,
  guides: readonly GuidePage[],
  operations: readonly { method: string; path: string }[],
  files: GuideFiles,
): Places {
  const pageOf = new Map<string, string>();
  const put = (title: string, page: string) => {
    if (pageOf.has(title)) throw new Error(`the section "${title}" stands on two pages`);
    pageOf.set(title, page);
  };
  for (const { path, sections: titles } of guides) for (const title of titles) put(title, path);
  for (const { method, path } of operations) {
    const title = contractTitle(method, path);
    if (sections.has(title)) put(title, operationPath(method, path));
  }
  const places = new Map<string, string>([
    [DESCRIPTORS_LINK, '/integrations#descriptors'],
    [QUICK_START_LINK, '/quick-start'],
    [PORTAL_LINK, '/portal'],
  ]);
  for (const { title, body } of sections.values()) {
    if (NOT_ON_THE_SITE.includes(title)) continue;
    const page = pageOf.get(title);
    if (page === undefined) throw new Error(`the section "${title}" stands on no page: docs/site/pages.ts`);
    const url = `/${page === 'index' ? '' : page}`;
    // The heading of an operation is the title of its page.
    places.set(`#${anchorOf(title)}`, `${url}#${anchorOf(title)}`);
    for (const anchor of headingsOf(body).map(anchorOf)) places.set(`#${anchor}`, `${url}#${anchor}`);
  }
  for (const [anchor, place] of [...places]) if (anchor.startsWith('#')) places.set(`${CONTRACT_LINK}${anchor}`, place);
  for (const { title, body } of sectionsOf(files.integrations)) {
    for (const anchor of [title, ...headingsOf(body)].map(anchorOf)) {
      places.set(`${DESCRIPTORS_LINK}#${anchor}`, `/integrations#${anchor}`);
      // A link from within that file.
      if (!places.has(`#${anchor}`)) places.set(`#${anchor}`, `/integrations#${anchor}`);
    }
  }
  for (const [link, place] of [...places]) if (!link.startsWith('#')) places.set(FROM_OTHERS + link, place);
  for (const anchor of headingsOf(files.samples).map(anchorOf))
    places.set(`${SAMPLES_LINK}#${anchor}`, `/samples#${anchor}`);
  return places;
}

/** The heading of an operation in the contract, for example `GET /challenges`. */
export function contractTitle(method: string, path: string): string {
  return `${method.toUpperCase()} ${path.replace(/^\/v1/, '')}`;
}

/**
 * Joins sections to a page. A first section with the page's title begins the page, without a second
 * heading.
 */
function sectionsAsPage({ title, sections }: GuidePage, parts: readonly Section[]): string {
  const [first, ...others] = parts.map((part) => `## ${part.title}\n\n${part.body}\n`);
  if (sections.length === 1 && sections[0] !== title) {
    throw new Error(`the page "${title}" has the one section "${sections[0]}": a page has one title`);
  }
  if (sections[0] === title) return [raiseHeadings(first ?? ''), ...others].join('\n');
  return [`# ${title}\n`, first, ...others].join('\n');
}

/**
 * The page at the address of the former one-page guide. No redirect sees a fragment, so each old
 * anchor here has a link to the present place of its section.
 */
function movedPage(sections: readonly Section[], places: Places): string {
  const entries = sections
    .filter(({ title }) => !NOT_ON_THE_SITE.includes(title))
    .flatMap(({ title, body }) => [title, ...headingsOf(body)])
    .map((heading) => {
      const anchor = anchorOf(heading);
      return `- <span id="${anchor}"></span>[${heading}](${places.get(`#${anchor}`)})`;
    });
  const moved = MOVED_SECTIONS.map(([title, page]) => `- <span id="${anchorOf(title)}"></span>[${title}](${page})`);
  const preface = 'The guide is on several pages now. Each section has a link to where it stands.';
  return `---\nsearch: false\n---\n\n# Sections of the guide\n\n${preface}\n\n${[...moved, ...entries].join('\n')}\n`;
}

/** Makes the address of each picture its place on the site, for a page in the first folder. */
function withPictures(markdown: string, folder: string, pictures: ReadonlySet<string>): string {
  return outsideFences(markdown, (text) =>
    text.replace(/!\[(?<alt>[^\]]+)\]\((?<href>[^)\s]+)\)/g, (_whole, alt: string, href: string) => {
      const path = posix.join(folder, href);
      if (!pictures.has(path)) throw new Error(`a guide shows ${href}, and there is no docs/${path}`);
      return `![${alt}](./${PICTURES}/${path})`;
    }),
  );
}

function relinked(markdown: string, places: Places): string {
  return outsideFences(markdown, (text) =>
    text.replace(/\]\((?<href>[^)\s]+)\)/g, (whole, href: string) => {
      if (href.startsWith('https://') || href.startsWith(`./${PICTURES}/`)) return whole;
      const place = places.get(href);
      if (place === undefined) throw new Error(`a guide links to ${href}, which is not on the site`);
      return `](${place})`;
    }),
  );
}

/** Makes adjacent code blocks with labels the tabs of one group: ```js [SDK], ```sh [curl]. */
function withCodeGroups(markdown: string): string {
  const labelled = '^```\\w+ \\[[^\\]]+\\]\\n[\\s\\S]*?^```\\n';
  const group = new RegExp(`${labelled}(?:\\n${labelled})+`, 'gm');
  return markdown.replace(group, (blocks) => `::: code-group\n\n${blocks}\n:::\n`);
}

function lowerHeadings(markdown: string): string {
  return outsideFences(markdown, (text) => text.replace(/^(#+ )/gm, '#$1'));
}

function missing(title: string): never {
  throw new Error(`docs/contract/partner-api.md has no section "${title}"`);
}
