/** A developer without a mouse: everything is reached by Tab. */
import type { Locator, Page } from 'playwright-core';
import { expect } from 'vitest';

/** The number exceeds the elements of any page that Tab reaches. */
const MAX_TABS = 200;

/** Presses Tab until the element has the focus. */
export async function tabTo(element: Locator): Promise<void> {
  await element.waitFor();
  const page = element.page();
  const focused = element.and(page.locator(':focus'));
  // Finding an element by its role takes the browser longer than all else here, so it is done once
  // and not for every Tab.
  let found = await element.elementHandle();
  for (let tabs = 0; tabs < MAX_TABS; tabs += 1) {
    const isFocused = await found.evaluate((node) => (node.isConnected ? node.matches(':focus') : undefined));
    if (isFocused && (await focused.count()) === 1) return;
    // If the element is no longer in the page, the page has drawn it again.
    if (isFocused === false) await page.keyboard.press('Tab');
    else found = await element.elementHandle();
  }
  expect.fail(`Tab does not reach ${element}`);
}

/** Reaches a button or a link, and presses Enter. */
export async function pressEnter(element: Locator): Promise<void> {
  await tabTo(element);
  await element.page().keyboard.press('Enter');
}

/** Reaches a field, and puts the text in place of what it holds. */
export async function enterText(field: Locator, text: string): Promise<void> {
  await tabTo(field);
  await field.page().keyboard.press('ControlOrMeta+A');
  await field.page().keyboard.insertText(text);
}

/** Opens a page of the side bar, and waits for its heading. */
export async function openByKeyboard(page: Page, name: string): Promise<void> {
  await pressEnter(page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name, exact: true }));
  await page.getByRole('heading', { level: 1, name, exact: true }).waitFor();
}
