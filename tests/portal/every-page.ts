/** Checks what must hold for every page of apps/portal, in all colours and on all screens. */
import type { Browser, Page } from 'playwright-core';
import { expect } from 'vitest';
import { observePage } from '../clients/observed-page.ts';
import { openPage } from './open-portal.ts';
import { accessibilityIssues, fitsWindow, storedTexts } from './page-checks.ts';

/** Some forty pages, each checked in four looks: 65 s of CPU, most of it in the browser. */
export const EVERY_PAGE_MS = 240_000;

interface Look {
  readonly name: string;
  readonly colorScheme: 'light' | 'dark';
  readonly viewport: { readonly width: number; readonly height: number };
}

const WIDE = { width: 1280, height: 900 };
const PHONE = { width: 390, height: 800 };

const LIGHT_AND_WIDE: Look = { name: 'light, wide', colorScheme: 'light', viewport: WIDE };
const DARK_ON_A_PHONE: Look = { name: 'dark, of a phone', colorScheme: 'dark', viewport: PHONE };

const LOOKS: readonly Look[] = [
  LIGHT_AND_WIDE,
  { name: 'light, of a phone', colorScheme: 'light', viewport: PHONE },
  { name: 'dark, wide', colorScheme: 'dark', viewport: WIDE },
  DARK_ON_A_PHONE,
];

interface EveryPage {
  readonly browser: Browser;
  readonly origin: string;
  readonly base: '/portal' | '/operator';
  readonly pages: readonly { readonly path: string; readonly heading: string | RegExp }[];
  readonly signIn: (page: Page) => Promise<void>;
  /** A text that must not be in the last page, nor stored in the browser. */
  readonly secret: string;
}

/**
 * Loads each page once and changes its colours and its width, as a reader may: in every look it is
 * accessible and fits. Two windows share the pages, one on a wide screen and one on a phone, so
 * that one loads while the other is checked. Neither may break the policy or store a text.
 */
export async function expectEveryPageSound({ browser, origin, base, pages, signIn, secret }: EveryPage): Promise<void> {
  const left = [...pages];
  const visit = async (first: Look) => {
    await using observed = await observePage(browser, origin, {
      colorScheme: first.colorScheme,
      viewport: first.viewport,
    });
    const { page, objections } = observed;
    await signIn(page);
    const looks = [first, ...LOOKS.filter((look) => look !== first)];
    for (let next = left.shift(); next !== undefined; next = left.shift()) {
      await show(page, first);
      await openPage(page, next.path, next.heading, base);
      for (const look of looks) {
        await show(page, look);
        const where = `${next.path}, ${look.name}`;
        // A chart is drawn again once the browser reports its new width.
        await expect.poll(() => fitsWindow(page), { message: where }).toBe(true);
        expect(await accessibilityIssues(page), where).toEqual([]);
      }
    }
    expect(objections).toEqual([]);
    expect(await storedTexts(page)).toEqual([]);
    expect(await page.content()).not.toContain(secret);
  };
  await Promise.all([visit(LIGHT_AND_WIDE), visit(DARK_ON_A_PHONE)]);
}

async function show(page: Page, { colorScheme, viewport }: Look): Promise<void> {
  await page.emulateMedia({ colorScheme });
  await page.setViewportSize(viewport);
}
