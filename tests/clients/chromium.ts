/**
 * Debian's Chromium for the tests of this folder: the one that is installed, or one that root installs. Where neither can be had the tests
 * that need it are skipped, and say so; with LAUREL_BROWSER=required that is a failure.
 */
import { existsSync } from 'node:fs';
import { type Browser, chromium } from 'playwright-core';
import { install, lastLine } from '../compose/engine.ts';

const EXECUTABLE = '/usr/bin/chromium';

const FLAGS = [
  ...['--headless', '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-sync'],
  ...['--disable-background-networking', '--disable-component-update', '--disable-dev-shm-usage'],
];

/** Whether `startChromium` can work here, after it was installed if need be. */
export async function hasChromium(): Promise<boolean> {
  const missing = await installChromium();
  if (missing === undefined) return true;
  if (process.env.LAUREL_BROWSER === 'required') throw new Error(missing);
  process.stderr.write(`Nothing is tested in a browser: ${missing}.\n`);
  return false;
}

export async function startChromium(): Promise<Browser> {
  return chromium.launch({ executablePath: EXECUTABLE, args: FLAGS });
}

/** Why there is none, or undefined. */
async function installChromium(): Promise<string | undefined> {
  if (existsSync(EXECUTABLE)) return undefined;
  if (process.getuid?.() !== 0) return `there is no ${EXECUTABLE}, and only root can install it`;
  process.stderr.write("Installing Chromium (Debian's package) ...\n");
  return install(['chromium']).then(
    () => undefined,
    (error: unknown) => `there is no ${EXECUTABLE}, and apt-get cannot install it: ${lastLine(error)}`,
  );
}
