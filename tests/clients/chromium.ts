/** Debian's Chromium, driven by playwright-core: its own browsers cannot be downloaded everywhere. */
import { existsSync } from 'node:fs';
import { type Browser, chromium } from 'playwright-core';

const EXECUTABLE = process.env.LAUREL_CHROMIUM ?? '/usr/bin/chromium';

/** A browser without a window. It asks nothing of its maker's servers, so that whatever leaves the machine is the page's. */
export async function launchChromium(): Promise<Browser> {
  if (!existsSync(EXECUTABLE)) {
    throw new Error(`${EXECUTABLE} is missing: apt-get install -y chromium, or name a Chromium in LAUREL_CHROMIUM`);
  }
  return chromium.launch({
    executablePath: EXECUTABLE,
    args: [
      '--headless',
      '--no-sandbox',
      '--disable-gpu',
      '--disable-quic',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
    ],
  });
}
