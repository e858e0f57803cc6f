/** VitePress's configuration. Pages come from docs/site/write-pages.ts. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { transformerStyleToClass } from '@shikijs/transformers';
import { type DefaultTheme, defineConfig } from 'vitepress';
import { EVENTS_PAGE, GUIDES, operationPath } from './pages.ts';
import type { Route } from './reference/document.ts';
import { methodBadge, titleOf } from './reference/operations.ts';
import { anchorOf } from './sections.ts';
import { strictHtml } from './strict-html.ts';

const BASE = '/docs/';
/**
 * The classes for the colours of code. They are known only when the last page is rendered, so the
 * file is not a hashed asset.
 */
const CODE_STYLE = 'code.css';

export function siteConfig(routes: readonly Route[]) {
  const colours = transformerStyleToClass({ classPrefix: 'c-' });
  const scripts = new Map<string, string>();
  return defineConfig({
    title: 'Laurel',
    description: 'Paid skill contests for game servers: guides and reference of the partner API',
    lang: 'en',
    base: BASE,
    cleanUrls: true,
    head: [
      ['link', { rel: 'icon', href: 'data:,' }],
      ['link', { rel: 'stylesheet', href: `${BASE}${CODE_STYLE}` }],
    ],
    // VitePress would switch transitions off with a style element, which the policy refuses.
    appearance: { disableTransition: false },
    markdown: {
      anchor: { slugify: anchorOf },
      // Keeps `## PATCH /integrations/{id}` whole: `{id}` is part of the heading, not an attribute.
      attrs: false,
      config: (markdown) => {
        markdown.renderer.rules.code_inline = (tokens, index) => breakableCode(tokens[index]?.content ?? '');
      },
      codeTransformers: [colours],
    },
    // Keeps paths as given, because the checkout may be reached through a link (build.ts).
    vite: { build: { assetsInlineLimit: 0 }, resolve: { preserveSymlinks: true } },
    themeConfig: {
      search: { provider: 'local', options: { detailedView: true } },
      outline: [2, 3],
      sidebar: [...guideGroups(), referenceGroup(routes)],
      docFooter: { prev: 'Before', next: 'Next' },
    },
    transformHtml(html) {
      const strict = strictHtml(html, `${BASE}assets/`);
      for (const [name, code] of strict.scripts) scripts.set(name, code);
      return strict.html;
    },
    buildEnd({ outDir }) {
      mkdirSync(join(outDir, 'assets'), { recursive: true });
      for (const [name, code] of scripts) writeFileSync(join(outDir, 'assets', name), code);
      writeFileSync(join(outDir, CODE_STYLE), colours.getCSS());
    },
  });
}

/**
 * Where code may continue on the next line: after a separator, and anywhere in a word that is too
 * long for a telephone.
 */
const BREAKS = /(?<=[\w}][_./-])(?=\w)|(?<=[^\s_./-]{12})(?=[^\s_./-])/;

/** Code in a sentence or a table, so that a narrow table has all its columns. */
function breakableCode(text: string): string {
  const escapeHtml = (part: string) => part.replace(/&/g, '&amp;').replace(/</g, '&lt;').replace(/>/g, '&gt;');
  return `<code v-pre>${text.split(BREAKS).map(escapeHtml).join('<wbr>')}</code>`;
}

function guideGroups(): DefaultTheme.SidebarItem[] {
  return GUIDES.map(({ group, pages }) => ({
    text: group,
    items: pages.map(({ title, path }) => ({ text: title, link: `/${path === 'index' ? '' : path}` })),
  }));
}

function referenceGroup(routes: readonly Route[]): DefaultTheme.SidebarItem {
  const operations = routes.map((route) => ({
    text: `${methodBadge(route)} ${titleOf(route)}`,
    link: `/${operationPath(route.method, route.path)}`,
  }));
  return { text: 'Reference', items: [...operations, { text: 'Events', link: `/${EVENTS_PAGE}` }] };
}
