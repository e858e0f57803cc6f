/** The dialogs in which an operator decides, and those that show a secret once. */
import type { Locator, Page } from 'playwright-core';
import { expect } from 'vitest';
import { pressEnter } from '../portal/keyboard.ts';
import { accessibilityIssues } from '../portal/page-checks.ts';

export function dialogOf(page: Page): Locator {
  return page.getByRole('dialog');
}

/** Opens the dialog of a button, and reads its consequence. */
export async function openDecision(page: Page, button: string, consequence: string): Promise<Locator> {
  await pressEnter(page.getByRole('button', { name: button, exact: true }));
  const dialog = dialogOf(page);
  await dialog.getByText(consequence).waitFor();
  expect(await accessibilityIssues(page)).toEqual([]);
  return dialog;
}

/** Confirms, and waits until the page is there again. */
export async function confirmDecision(page: Page, verb: string): Promise<void> {
  await pressEnter(dialogOf(page).getByRole('button', { name: verb, exact: true }));
  await dialogOf(page).waitFor({ state: 'detached' });
}

/** Reads a secret that is shown once, and closes its dialog. */
export async function takeSecret(page: Page, title: string): Promise<string> {
  const shown = page.getByRole('dialog', { name: title });
  const secret = (await shown.locator('pre').textContent()) ?? '';
  expect(await accessibilityIssues(page)).toEqual([]);
  await pressEnter(shown.getByRole('button', { name: 'I have stored it' }));
  await shown.waitFor({ state: 'detached' });
  return secret;
}
