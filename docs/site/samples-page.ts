/**
 * The page of docs/samples: each line of links to files, one for each language, becomes the files
 * themselves, in blocks with labels, which the guides show as tabs.
 */

/** The names of the languages in Shiki, by the folders of docs/samples. */
const SHIKI_NAMES: Readonly<Record<string, string>> = {
  python: 'python',
  go: 'go',
  csharp: 'csharp',
  java: 'java',
  php: 'php',
  ruby: 'ruby',
  node: 'js',
};

const LINK = /\[([^\]]+)\]\(([a-z]+)\/([\w.-]+)\)/g;
const LINE_OF_LINKS = /^(?:\[[^\]]+\]\([a-z]+\/[\w.-]+\)(?: · |$))+$/;

/** Without the list of its sections beside it, which leaves the code more room. */
const SETTINGS = '---\naside: false\n---\n\n';

export function samplesPage(read: (file: string) => string): string {
  const lines = read('README.md').split('\n');
  return SETTINGS + lines.map((line) => (LINE_OF_LINKS.test(line) ? blocksOf(line, read) : line)).join('\n');
}

function blocksOf(line: string, read: (file: string) => string): string {
  const blocks = [...line.matchAll(LINK)].map(([, title, folder = '', name]) => {
    return `\`\`\`${SHIKI_NAMES[folder] ?? folder} [${title}]\n${read(`${folder}/${name}`)}\`\`\``;
  });
  return blocks.join('\n\n');
}
