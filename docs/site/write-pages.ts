/**
 * Writes the pages of the site as Markdown: the guides from docs/contract and docs/samples, the
 * reference from docs/openapi/partner-v1.yaml.
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { contractTitle, type GuideFiles, renderGuides } from './guides.ts';
import { EVENTS_PAGE, operationPath } from './pages.ts';
import { parseDocument, type Route, routesOf } from './reference/document.ts';
import { eventsPage, operationPage } from './reference/operations.ts';
import { samplesPage } from './samples-page.ts';
import { sectionsOf } from './sections.ts';

const DOCS = new URL('../', import.meta.url);

/** Writes the pages, and returns the routes of the document for the side bar. */
export function writePages(folder: string): readonly Route[] {
  const document = parseDocument(read('openapi/partner-v1.yaml'));
  const routes = routesOf(document);
  const files = readGuides();
  const guides = renderGuides(files, routes);
  for (const [path, markdown] of guides.pages) write(folder, path, markdown);

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
