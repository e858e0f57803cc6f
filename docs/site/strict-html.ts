/**
 * Makes a page work under `script-src 'self'; style-src 'self'` without hashes: no script or style
 * stays inline.
 */
import { createHash } from 'node:crypto';

export interface StrictHtml {
  readonly html: string;
  /** The former inline scripts, by their new names below the assets. */
  readonly scripts: ReadonlyMap<string, string>;
}

/**
 * Moves inline scripts into files, named at the same places of the page. theme/style.css replaces
 * the style attributes of VitePress's own layout.
 */
export function strictHtml(html: string, assetsUrl: string): StrictHtml {
  const scripts = new Map<string, string>();
  const external = html.replace(/<script(?<attributes>[^>]*)>(?<code>[^<]+)<\/script>/g, (whole, attributes, code) => {
    if (/\bsrc=/.test(attributes)) return whole;
    const name = `inline.${createHash('sha256').update(code).digest('hex').slice(0, 8)}.js`;
    scripts.set(name, code);
    return `<script${attributes} src="${assetsUrl}${name}"></script>`;
  });
  const plain = external.replace(/ style="(?:position:relative;|--vp-vh:0px;)"/g, '');
  if (/<script(?![^>]*\bsrc=)[^>]*>|<style|\sstyle="/.test(plain)) {
    throw new Error(
      `a page holds inline script or style that docs/site/strict-html.ts does not know: ${firstInline(plain)}`,
    );
  }
  return { html: plain, scripts };
}

function firstInline(html: string): string {
  return /(?:<script(?![^>]*\bsrc=)[^>]*>|<style|<[^>]*\sstyle=").{0,80}/s.exec(html)?.[0] ?? '';
}
