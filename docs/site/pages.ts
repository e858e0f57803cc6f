/**
 * Which sections of the contract are on which page of the site. Every section has one place: a
 * guide, or the page of its operation. A page has one title; a first section with the same title
 * begins the page.
 */

export interface GuidePage {
  /** The path below `/docs/`. */
  readonly path: string;
  readonly title: string;
  /** Headings of docs/contract/partner-api.md, in reading order. */
  readonly sections: readonly string[];
  /**
   * The file of docs/contract, or the page of docs/samples or docs/portal, that follows the
   * sections whole. Without sections, the file is the page.
   */
  readonly file?: 'integrations' | 'quick-start' | 'samples' | 'portal';
}

export const GUIDES: readonly { readonly group: string; readonly pages: readonly GuidePage[] }[] = [
  {
    group: 'Start',
    pages: [
      { path: 'index', title: 'What Laurel does', sections: ['What Laurel does'] },
      { path: 'quick-start', title: 'Quick start', sections: [], file: 'quick-start' },
      { path: 'portal', title: 'The developer portal', sections: [], file: 'portal' },
      { path: 'sandbox', title: 'Testing in the sandbox', sections: ['Testing in the sandbox'] },
      { path: 'going-live', title: 'Going live', sections: ['Going live'] },
    ],
  },
  {
    group: 'Guides',
    pages: [
      {
        path: 'concepts',
        title: 'Concepts',
        sections: [
          'Challenge',
          'Challenge status',
          'Player link',
          'Attempt',
          'Attempt status',
          'Outcome',
          'Receipt',
          'Tournament',
          'Tournament status',
          'Round',
          'Round status',
          'Leaderboard row',
          'Masked leaderboard',
        ],
      },
      { path: 'money', title: 'Money', sections: ['Money', 'Payout status'] },
      {
        path: 'conventions',
        title: 'Conventions and limits',
        sections: ['Conventions', 'Authentication', 'Rate limit', 'Limits', 'Versioning'],
      },
      { path: 'idempotency', title: 'Idempotency', sections: ['Idempotency'] },
      { path: 'errors', title: 'Errors', sections: ['Errors', 'The retired route'] },
      {
        path: 'webhooks',
        title: 'Webhooks',
        sections: ['Endpoint registration', 'Delivery request', 'Event types', 'Delivery behaviour'],
      },
      {
        path: 'integrations',
        title: 'Integrations',
        sections: ['Integration', 'Integration routes', 'Pushed outcomes'],
        file: 'integrations',
      },
      { path: 'samples', title: 'Samples for game servers', sections: [], file: 'samples' },
      { path: 'browser', title: 'In the browser', sections: ['In the browser'] },
    ],
  },
];

/** Sections that the site leaves out, because its side bar replaces them. */
export const NOT_ON_THE_SITE: readonly string[] = ['Contents'];

/** Sections of earlier releases, with the pages that replace them. */
export const MOVED_SECTIONS: readonly (readonly [title: string, page: string])[] = [['The first hour', '/quick-start']];

/**
 * An address of earlier releases, `/docs/guide`, whose fragments named the sections. No page links
 * to it.
 */
export const MOVED_PAGE = 'guide';

export const OPERATIONS_FOLDER = 'reference';
export const EVENTS_PAGE = `${OPERATIONS_FOLDER}/events`;

/**
 * `POST /attempts` -> `post-attempts`: the path of an operation's page comes from its route in the
 * contract.
 */
export function operationPath(method: string, path: string): string {
  const words = path.replace(/^\/v1/, '').replace(/[{}]/g, '').split(/[/_.]/).filter(Boolean);
  return `${OPERATIONS_FOLDER}/${[method.toLowerCase(), ...words].join('-')}`;
}
