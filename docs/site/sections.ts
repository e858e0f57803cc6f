/**
 * Cuts a Markdown file into sections: each has a heading of the second level, and everything up to
 * the next one.
 */

export interface Section {
  readonly title: string;
  /** The Markdown below the heading. */
  readonly body: string;
}

export function sectionsOf(markdown: string): readonly Section[] {
  return partsOf(markdown)
    .slice(1)
    .map((part) => {
      const end = part.indexOf('\n');
      return { title: part.slice('## '.length, end).trim(), body: part.slice(end).trim() };
    });
}

/** The text between the title of the file and its first section. */
export function prefaceOf(markdown: string): string {
  return (partsOf(markdown)[0] ?? '').replace(/^# .*\n/, '').trim();
}

/** GitHub's anchor of a heading, so that a link works both in the repository and on the site. */
export function anchorOf(heading: string): string {
  return heading
    .trim()
    .toLowerCase()
    .replace(/[^\p{L}\p{M}\p{N}\p{Pc} -]/gu, '')
    .replaceAll(' ', '-');
}

/** All headings; a fenced line that begins with `#` is not one. */
export function headingsOf(markdown: string): readonly string[] {
  return [...withoutFences(markdown).matchAll(/^#{1,6} (.+)$/gm)].map(([, heading = '']) => heading.trim());
}

/** Raises each heading one level, so that the section of a file becomes a page. */
export function raiseHeadings(markdown: string): string {
  return outsideFences(markdown, (text) => text.replace(/^#(#+ )/gm, '$1'));
}

/** Applies a change to everything but fenced code. */
export function outsideFences(markdown: string, change: (text: string) => string): string {
  return markdown
    .split(/(^```[\s\S]*?^```$)/m)
    .map((part, index) => (index % 2 === 0 ? change(part) : part))
    .join('');
}

function withoutFences(markdown: string): string {
  return markdown.replace(/^```[\s\S]*?^```$/gm, '');
}

function partsOf(markdown: string): readonly string[] {
  const parts: string[] = [];
  let isFenced = false;
  let current = '';
  for (const line of markdown.split('\n')) {
    if (line.startsWith('```')) isFenced = !isFenced;
    if (!isFenced && line.startsWith('## ')) {
      parts.push(current);
      current = '';
    }
    current += `${line}\n`;
  }
  return [...parts, current];
}
