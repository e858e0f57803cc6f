/** The pages of the side bar. The first is where the operator's pages open. */
export const NAVIGATION = [
  { to: '/programs', label: 'Programs' },
  { to: '/search', label: 'Search' },
  { to: '/payouts', label: 'Payouts', search: { status: 'held' } },
  { to: '/attempts', label: 'Attempts' },
  { to: '/accounts', label: 'Accounts' },
  { to: '/developers', label: 'Developers' },
  { to: '/money', label: 'Money' },
  { to: '/audit', label: 'Audit' },
  { to: '/actions', label: 'Actions' },
] as const;
