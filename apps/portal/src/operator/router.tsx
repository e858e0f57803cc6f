/**
 * The addresses of the operator's pages. A page is one line here, and its script is loaded when it
 * is opened: apps/portal/README.md, "A new page".
 */
import { createRootRoute, createRoute, createRouter, Navigate } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { lazy } from '../frame/lazy.ts';
import { CrashedPage, NotFound, SessionGate } from '../frame/session-gate.tsx';
import { parseSearch, stringifySearch } from '../kit/filters.ts';
import { OperatorShell } from './layout/operator-shell.tsx';
import { TokenForm } from './layout/token-form.tsx';
import { readSearch as readAccountSearch, readStatementSearch } from './pages/accounts/search.ts';
import { readSearch as readActionSearch } from './pages/actions/search.ts';
import { readSearch as readAttemptSearch } from './pages/attempts/search.ts';
import { readSearch as readChallengeSearch } from './pages/challenges/search.ts';
import { readSearch as readDeveloperSearch } from './pages/developers/search.ts';
import { readSearch as readMoneySearch } from './pages/money/search.ts';
import { readSearch as readPayoutSearch } from './pages/payouts/search.ts';
import { readSearch as readQuestion } from './pages/search/search.ts';
import { readSearch as readTournamentSearch } from './pages/tournaments/search.ts';

const root = createRootRoute({ component: Root, notFoundComponent: NotFound, errorComponent: CrashedPage });
const atRoot = { getParentRoute: () => root } as const;

const signIn = createRoute({
  ...atRoot,
  path: '/sign-in',
  component: lazy(() => import('./pages/sign-in/sign-in-page.tsx').then((page) => page.SignInPage)),
});

const shell = createRoute({ ...atRoot, id: 'shell', component: OperatorShell });
const inShell = { getParentRoute: () => shell } as const;

const home = createRoute({ ...inShell, path: '/', component: FirstPage });
const programs = createRoute({
  ...inShell,
  path: 'programs',
  component: lazy(() => import('./pages/programs/programs-page.tsx').then((page) => page.ProgramsPage)),
});
const program = createRoute({
  ...inShell,
  path: 'programs/$programId',
  component: lazy(() => import('./pages/programs/program-page.tsx').then((page) => page.ProgramPage)),
});
const payouts = createRoute({
  ...inShell,
  path: 'payouts',
  validateSearch: readPayoutSearch,
  component: lazy(() => import('./pages/payouts/payouts-page.tsx').then((page) => page.PayoutsPage)),
});
const search = createRoute({
  ...inShell,
  path: 'search',
  validateSearch: readQuestion,
  component: lazy(() => import('./pages/search/search-page.tsx').then((page) => page.SearchPage)),
});
const attempts = createRoute({
  ...inShell,
  path: 'attempts',
  validateSearch: readAttemptSearch,
  component: lazy(() => import('./pages/attempts/attempts-page.tsx').then((page) => page.AttemptsPage)),
});
const attempt = createRoute({
  ...inShell,
  path: 'attempts/$attemptId',
  component: lazy(() => import('./pages/attempts/attempt-page.tsx').then((page) => page.AttemptPage)),
});
const payout = createRoute({
  ...inShell,
  path: 'payouts/$awardId',
  component: lazy(() => import('./pages/payouts/payout-page.tsx').then((page) => page.PayoutPage)),
});
const accounts = createRoute({
  ...inShell,
  path: 'accounts',
  validateSearch: readAccountSearch,
  component: lazy(() => import('./pages/accounts/accounts-page.tsx').then((page) => page.AccountsPage)),
});
const account = createRoute({
  ...inShell,
  path: 'accounts/$accountId',
  validateSearch: readStatementSearch,
  component: lazy(() => import('./pages/accounts/account-page.tsx').then((page) => page.AccountPage)),
});
const developers = createRoute({
  ...inShell,
  path: 'developers',
  validateSearch: readDeveloperSearch,
  component: lazy(() => import('./pages/developers/developers-page.tsx').then((page) => page.DevelopersPage)),
});
const challenges = createRoute({
  ...inShell,
  path: 'programs/$programId/challenges',
  validateSearch: readChallengeSearch,
  component: lazy(() => import('./pages/challenges/challenges-page.tsx').then((page) => page.ChallengesPage)),
});
const newChallenge = createRoute({
  ...inShell,
  path: 'programs/$programId/challenges/new',
  validateSearch: readChallengeSearch,
  component: lazy(() => import('./pages/challenges/new-challenge-page.tsx').then((page) => page.NewChallengePage)),
});
const challenge = createRoute({
  ...inShell,
  path: 'challenges/$challengeId',
  component: lazy(() => import('./pages/challenges/challenge-page.tsx').then((page) => page.ChallengePage)),
});
const tournaments = createRoute({
  ...inShell,
  path: 'programs/$programId/tournaments',
  validateSearch: readTournamentSearch,
  component: lazy(() => import('./pages/tournaments/tournaments-page.tsx').then((page) => page.TournamentsPage)),
});
const newTournament = createRoute({
  ...inShell,
  path: 'programs/$programId/tournaments/new',
  validateSearch: readTournamentSearch,
  component: lazy(() => import('./pages/tournaments/new-tournament-page.tsx').then((page) => page.NewTournamentPage)),
});
const tournament = createRoute({
  ...inShell,
  path: 'tournaments/$tournamentId',
  component: lazy(() => import('./pages/tournaments/tournament-page.tsx').then((page) => page.TournamentPage)),
});
const round = createRoute({
  ...inShell,
  path: 'rounds/$roundId',
  component: lazy(() => import('./pages/rounds/round-page.tsx').then((page) => page.RoundPage)),
});
const money = createRoute({
  ...inShell,
  path: 'money',
  validateSearch: readMoneySearch,
  component: lazy(() => import('./pages/money/money-page.tsx').then((page) => page.MoneyPage)),
});
const audit = createRoute({
  ...inShell,
  path: 'audit',
  component: lazy(() => import('./pages/audit/audit-page.tsx').then((page) => page.AuditPage)),
});
const actions = createRoute({
  ...inShell,
  path: 'actions',
  validateSearch: readActionSearch,
  component: lazy(() => import('./pages/actions/actions-page.tsx').then((page) => page.ActionsPage)),
});

export const router = createRouter({
  routeTree: root.addChildren([
    signIn,
    shell.addChildren([
      home,
      search,
      programs,
      program,
      challenges,
      newChallenge,
      challenge,
      tournaments,
      newTournament,
      tournament,
      round,
      attempts,
      attempt,
      payouts,
      payout,
      accounts,
      account,
      developers,
      money,
      audit,
      actions,
    ]),
  ]),
  basepath: '/operator',
  parseSearch,
  stringifySearch,
  scrollRestoration: true,
  defaultPreload: 'intent',
});

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router;
  }
}

function Root(): ReactNode {
  return <SessionGate audience="This page is for operators." signIn={(resume) => <TokenForm onSignedIn={resume} />} />;
}

function FirstPage(): ReactNode {
  return <Navigate replace to="/programs" />;
}
