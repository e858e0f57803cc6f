/**
 * Writes the pages of the site as Markdown: the guides from docs/contract, docs/samples and
 * docs/portal with their pictures, the reference from docs/openapi/partner-v1.yaml.
 */
import { cpSync, globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { contractTitle, type GuideFiles, PICTURES, renderGuides } from './guides.ts';
import { EVENTS_PAGE, operationPath } from './pages.ts';
import { parseDocument, type Route, routesOf } from './reference/document.ts';
import { eventsPage, operationPage } from './reference/operations.ts';
import { samplesPage } from './samples-page.ts';
import { sectionsOf } from './sections.ts';

const DOCS = new URL('../', import.meta.url);
const DOCS_FOLDER = fileURLToPath(DOCS);
const PORTAL = 'portal';

/** Writes the pages, and returns the routes of the document for the side bar. */
export function writePages(folder: string): readonly Route[] {
  const document = parseDocument(read('openapi/partner-v1.yaml'));
  const routes = routesOf(document);
  const files = readGuides();
  const guides = renderGuides(files, routes);
  for (const [path, markdown] of guides.pages) write(folder, path, markdown);
  for (const picture of files.pictures) cpSync(join(DOCS_FOLDER, picture), join(folder, PICTURES, picture));

  const titles = new Set(sectionsOf(files['partner-api']).map(({ title }) => title));
  for (const route of routes) {
    const title = contractTitle(route.method, route.path);
    const text = titles.has(title) ? guides.sectionOf(title) : undefined;
    write(folder, operationPath(route.method, route.path), operationPage(document, route, text));
  }
  write(folder, EVENTS_PAGE, eventsPage(document));
  return routes;
}

export function readGuides(): GuideFiles {
  const file = (name: string) => read(`contract/${name}.md`);
  return {
    'partner-api': file('partner-api'),
    'quick-start': file('quick-start'),
    integrations: file('integrations'),
    samples: samplesPage((name) => read(`samples/${name}`)),
    portal: read(`${PORTAL}/README.md`),
    pictures: new Set(globSync(`${PORTAL}/*.png`, { cwd: DOCS_FOLDER })),
  };
}

function read(file: string): string {
  return readFileSync(new URL(file, DOCS), 'utf8');
}

function write(folder: string, path: string, markdown: string): void {
  const file = join(folder, `${path}.md`);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, `${markdown}\n`);
}
