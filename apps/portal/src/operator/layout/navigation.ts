/** The pages of the side bar. The first is where the operator's pages open. */
export const NAVIGATION = [
  { to: '/programs', label: 'Programs' },
  { to: '/payouts', label: 'Payouts', search: { status: 'held' } },
  { to: '/audit', label: 'Audit' },
  { to: '/actions', label: 'Actions' },
] as const;
