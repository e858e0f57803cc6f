import { expect, test } from 'vitest';
import { strictHtml } from './strict-html.ts';

test('an inline script becomes a file that the page names, and equal scripts become one file', () => {
  const page = '<script id="a">start()</script><script src="/docs/assets/app.js"></script>';
  const { html, scripts } = strictHtml(page, '/docs/assets/');
  const [[name, code] = ['', '']] = scripts;
  expect(code).toBe('start()');
  expect(html).toBe(`<script id="a" src="/docs/assets/${name}"></script><script src="/docs/assets/app.js"></script>`);
  expect([...strictHtml(page, '/docs/assets/').scripts.keys()]).toEqual([name]);
});

test.each(['<p style="color:red">x</p>', '<style>p{}</style>', '<script>a < b</script>'])(
  'a page with %s is refused, because the policy would refuse it in the browser',
  (page) => {
    expect(() => strictHtml(page, '/docs/assets/')).toThrow('holds inline script or style');
  },
);
