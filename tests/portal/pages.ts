/** The pages that `portal.test.ts` opens. A page adds one line. */
export interface PortalPage {
  /** The address below `/portal`; `{program}` is the program of the test. */
  readonly path: string;
  /** The heading that shows that the page has loaded. */
  readonly heading: string;
}

export const PORTAL_PAGES: readonly PortalPage[] = [
  { path: '/sign-in', heading: 'Sign in to Laurel' },
  { path: '/programs', heading: 'Programs' },
  { path: '/p/{program}/test/keys', heading: 'API keys' },
  { path: '/p/{program}/live/keys', heading: 'API keys' },
  { path: '/p/{program}/test/sandbox', heading: 'Sandbox' },
  { path: '/p/{program}/live/sandbox', heading: 'Sandbox' },
  { path: '/nothing', heading: 'Page not found' },
];
