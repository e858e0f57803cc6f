/**
 * The partner's guides (docs/contract/partner-api.md and docs/contract/integrations.md) as pages beside the reference: the same text, rendered
 * once, with nothing fetched from elsewhere. A link to a file that no host serves makes the start fail.
 */
import { Marked, type Token } from 'marked';
import { gfmHeadingId } from 'marked-gfm-heading-id';
import { STYLE } from './reference-page.ts';

/** The paths at which a host serves the files that the guide links to. */
const SERVED: Readonly<Record<string, string>> = {
  '../openapi/partner-v1.yaml': '/openapi.json',
  ...Object.fromEntries(
    Object.entries({ 'partner-api': '/docs/guide', integrations: '/docs/integrations' }).map(([name, path]) => [
      `${name}.md`,
      path,
    ]),
  ),
};

export function guidePage(markdown: string, title = 'Partner API: the guide'): string {
  const renderer = new Marked(gfmHeadingId(), { walkTokens: serveLink });
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>${title}</title><style>${STYLE}</style></head><body class="guide">
<p class="muted"><a href="/docs/guide">Guide</a> · <a href="/docs/integrations">Descriptors</a> · <a href="/docs">Reference</a> · <a href="/openapi.json">OpenAPI document</a></p>
${renderer.parse(markdown, { async: false })}
</body></html>`;
}

function serveLink(token: Token): void {
  if (token.type !== 'link' && token.type !== 'image') return;
  if (token.href.startsWith('#') || token.href.startsWith('https://')) return;
  const served = SERVED[token.href];
  if (served === undefined) throw new Error(`the guide links to ${token.href}, which is not served`);
  token.href = served;
}
