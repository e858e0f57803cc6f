/**
 * Debian's Chromium for the tests of this folder: the installed one, or one that root installs.
 * Without either, the tests that need it are skipped and say so; with LAUREL_BROWSER=required that
 * is a failure. LAUREL_CHROMIUM names another Chromium.
 */
import { existsSync } from 'node:fs';
import { type Browser, chromium } from 'playwright-core';
import { install, lastLine } from '../compose/engine.ts';

const PACKAGED = '/usr/bin/chromium';
const EXECUTABLE = process.env.LAUREL_CHROMIUM ?? PACKAGED;

const FLAGS = [
  ...['--headless', '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-sync'],
  ...['--disable-background-networking', '--disable-component-update', '--disable-dev-shm-usage'],
];

/** Whether `launchChromium` can work here; installs Chromium if necessary. */
export async function hasChromium(): Promise<boolean> {
  const missing = await installChromium();
  if (missing === undefined) return true;
  if (process.env.LAUREL_BROWSER === 'required') throw new Error(missing);
  process.stderr.write(`Nothing is tested in a browser: ${missing}.\n`);
  return false;
}

/** Launches Chromium without a window. It sends no requests except those of its pages. */
export async function launchChromium(): Promise<Browser> {
  return chromium.launch({ executablePath: EXECUTABLE, args: FLAGS });
}

/** Installs Chromium unless it is there. Returns why that is impossible, or undefined. */
async function installChromium(): Promise<string | undefined> {
  if (existsSync(EXECUTABLE)) return undefined;
  if (EXECUTABLE !== PACKAGED) return `LAUREL_CHROMIUM names ${EXECUTABLE}, which does not exist`;
  if (process.getuid?.() !== 0) return `there is no ${EXECUTABLE}, and only root can install it`;
  process.stderr.write("Installing Chromium (Debian's package) ...\n");
  return install(PACKAGED, ['chromium']).then(
    () => undefined,
    (error: unknown) => `there is no ${EXECUTABLE}, and apt-get cannot install it: ${lastLine(error)}`,
  );
}
