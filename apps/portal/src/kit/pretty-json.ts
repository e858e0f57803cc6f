/**
 * `prettyJson(text)`: the same JSON over several lines. No value is printed again, so `25.00` stays
 * `25.00`. A text that is not JSON stays as it is.
 */
const TOKEN = /"(?:[^"\\]|\\.)*"|[{}[\],:]|[^\s{}[\],:"]+/g;
const INDENT = '  ';

export function prettyJson(text: string): string {
  if (!isJson(text)) return text;
  const tokens = text.match(TOKEN) ?? [];
  let depth = 0;
  return tokens
    .map((token, index) => {
      const next = tokens[index + 1] ?? '';
      if (token === ':') return ': ';
      if (token === ',') return `,${lineAt(depth)}`;
      if (token === '{' || token === '[') {
        if (isEnd(next)) return token;
        depth += 1;
        return `${token}${lineAt(depth)}`;
      }
      if (!isEnd(token)) return token;
      const isEmpty = tokens[index - 1] === '{' || tokens[index - 1] === '[';
      if (isEmpty) return token;
      depth -= 1;
      return `${lineAt(depth)}${token}`;
    })
    .join('');
}

function lineAt(depth: number): string {
  return `\n${INDENT.repeat(depth)}`;
}

function isEnd(token: string): boolean {
  return token === '}' || token === ']';
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
