import { expect, test } from 'vitest';
import { anchorOf, headingsOf, prefaceOf, raiseHeadings, sectionsOf } from './sections.ts';

const FILE = `# Title

Before the first.

## POST /attempts/{attempt_id}/outcome

One.

### Below it

\`\`\`sh
## not a heading
\`\`\`

## Errors

Two.
`;

test('a file is cut at its headings of the second level, not at a line of code that looks like one', () => {
  expect(sectionsOf(FILE).map(({ title }) => title)).toEqual(['POST /attempts/{attempt_id}/outcome', 'Errors']);
  expect(sectionsOf(FILE)[0]?.body).toMatch(/^One\.[\s\S]*## not a heading\n```$/);
  expect(prefaceOf(FILE)).toBe('Before the first.');
});

test.each([
  ['POST /attempts/{attempt_id}/outcome', 'post-attemptsattempt_idoutcome'],
  ['Bar, ramp and suspension', 'bar-ramp-and-suspension'],
  ['The retired route', 'the-retired-route'],
])('the anchor of "%s" is GitHub’s', (heading, anchor) => {
  expect(anchorOf(heading)).toBe(anchor);
});

test('moving the headings of a text to another level leaves its code unchanged', () => {
  const [section] = sectionsOf(FILE);
  expect(headingsOf(section?.body ?? '')).toEqual(['Below it']);
  expect(raiseHeadings(section?.body ?? '')).toContain('\n## Below it\n\n```sh\n## not a heading\n');
});
