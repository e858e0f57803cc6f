/**
 * The addresses of the developer portal. A page is one line here, and its script is loaded when it
 * is opened: apps/portal/README.md, "A new page".
 */
import { createRootRoute, createRoute, createRouter, Navigate, notFound } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import type { Environment } from './api/api-types.ts';
import { lazy } from './frame/lazy.ts';
import { CrashedPage, NotFound } from './frame/session-gate.tsx';
import { parseSearch, stringifySearch } from './kit/filters.ts';
import { NAVIGATION } from './layout/navigation.ts';
import { ProgramShell } from './layout/program-shell.tsx';
import { Root } from './layout/root.tsx';
import { readSearch as readAttemptSearch } from './pages/attempts/search.ts';
import { readSearch as readChallengeSearch } from './pages/challenges/search.ts';
import { readSearch as readEventsSearch } from './pages/events/search.ts';
import { readSearch as readOverviewSearch } from './pages/overview/search.ts';
import { readSearch as readRequestsSearch } from './pages/requests/search.ts';
import { readSearch as readTournamentSearch } from './pages/tournaments/search.ts';
import { readSearch as readEndpointSearch } from './pages/webhooks/search.ts';

const root = createRootRoute({ component: Root, notFoundComponent: NotFound, errorComponent: CrashedPage });
const atRoot = { getParentRoute: () => root } as const;

const home = createRoute({
  ...atRoot,
  path: '/',
  component: lazy(() => import('./pages/programs/programs-page.tsx').then((page) => page.HomePage)),
});
const signIn = createRoute({
  ...atRoot,
  path: '/sign-in',
  component: lazy(() => import('./pages/sign-in/sign-in-page.tsx').then((page) => page.SignInPage)),
});
const programs = createRoute({
  ...atRoot,
  path: '/programs',
  component: lazy(() => import('./pages/programs/programs-page.tsx').then((page) => page.ProgramsPage)),
});

const program = createRoute({
  ...atRoot,
  path: '/p/$programId/$environment',
  params: { parse: (params) => ({ ...params, environment: readEnvironment(params.environment) }) },
  component: ProgramShell,
});
const inProgram = { getParentRoute: () => program } as const;

const webhooks = createRoute({
  ...inProgram,
  path: 'webhooks',
  component: lazy(() => import('./pages/webhooks/webhooks-page.tsx').then((page) => page.WebhooksPage)),
});
const endpoint = createRoute({
  ...inProgram,
  path: 'webhooks/$endpointId',
  validateSearch: readEndpointSearch,
  component: lazy(() => import('./pages/webhooks/endpoint-page.tsx').then((page) => page.EndpointPage)),
});
const delivery = createRoute({
  ...inProgram,
  path: 'deliveries/$deliveryId',
  component: lazy(() => import('./pages/deliveries/delivery-page.tsx').then((page) => page.DeliveryPage)),
});
const events = createRoute({
  ...inProgram,
  path: 'events',
  validateSearch: readEventsSearch,
  component: lazy(() => import('./pages/events/events-page.tsx').then((page) => page.EventsPage)),
});
const signatures = createRoute({
  ...inProgram,
  path: 'signatures',
  component: lazy(() => import('./pages/signatures/signatures-page.tsx').then((page) => page.SignaturesPage)),
});
const programHome = createRoute({ ...inProgram, path: '/', component: FirstPage });
const overview = createRoute({
  ...inProgram,
  path: 'overview',
  validateSearch: readOverviewSearch,
  component: lazy(() => import('./pages/overview/overview-page.tsx').then((page) => page.OverviewPage)),
});
const requests = createRoute({
  ...inProgram,
  path: 'requests',
  validateSearch: readRequestsSearch,
  component: lazy(() => import('./pages/requests/requests-page.tsx').then((page) => page.RequestsPage)),
});
const request = createRoute({
  ...inProgram,
  path: 'requests/$requestId',
  component: lazy(() => import('./pages/requests/request-page.tsx').then((page) => page.RequestPage)),
});
const keys = createRoute({
  ...inProgram,
  path: 'keys',
  component: lazy(() => import('./pages/keys/keys-page.tsx').then((page) => page.KeysPage)),
});
const challenges = createRoute({
  ...inProgram,
  path: 'challenges',
  validateSearch: readChallengeSearch,
  component: lazy(() => import('./pages/challenges/challenges-page.tsx').then((page) => page.ChallengesPage)),
});
const challenge = createRoute({
  ...inProgram,
  path: 'challenges/$challengeId',
  component: lazy(() => import('./pages/challenges/challenge-page.tsx').then((page) => page.ChallengePage)),
});
const tournaments = createRoute({
  ...inProgram,
  path: 'tournaments',
  validateSearch: readTournamentSearch,
  component: lazy(() => import('./pages/tournaments/tournaments-page.tsx').then((page) => page.TournamentsPage)),
});
const tournament = createRoute({
  ...inProgram,
  path: 'tournaments/$tournamentId',
  component: lazy(() => import('./pages/tournaments/tournament-page.tsx').then((page) => page.TournamentPage)),
});
const round = createRoute({
  ...inProgram,
  path: 'rounds/$roundId',
  component: lazy(() => import('./pages/tournaments/round-page.tsx').then((page) => page.RoundPage)),
});

const integrations = createRoute({
  ...inProgram,
  path: 'integrations',
  component: lazy(() => import('./pages/integrations/integrations-page.tsx').then((page) => page.IntegrationsPage)),
});
const integration = createRoute({
  ...inProgram,
  path: 'integrations/$integrationId',
  component: lazy(() => import('./pages/integrations/integration-page.tsx').then((page) => page.IntegrationPage)),
});
const sandbox = createRoute({
  ...inProgram,
  path: 'sandbox',
  component: lazy(() => import('./pages/sandbox/sandbox-page.tsx').then((page) => page.SandboxPage)),
});

const attempts = createRoute({
  ...inProgram,
  path: 'attempts',
  validateSearch: readAttemptSearch,
  component: lazy(() => import('./pages/attempts/attempts-page.tsx').then((page) => page.AttemptsPage)),
});
const attempt = createRoute({
  ...inProgram,
  path: 'attempts/$attemptId',
  component: lazy(() => import('./pages/attempts/attempt-page.tsx').then((page) => page.AttemptPage)),
});

const routeTree = root.addChildren([
  home,
  signIn,
  programs,
  program.addChildren([
    webhooks,
    endpoint,
    delivery,
    events,
    signatures,
    programHome,
    overview,
    requests,
    request,
    keys,
    challenges,
    challenge,
    tournaments,
    tournament,
    round,
    integrations,
    integration,
    sandbox,
    attempts,
    attempt,
  ]),
]);

export const router = createRouter({
  routeTree,
  basepath: '/portal',
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

function readEnvironment(text: string): Environment {
  if (text === 'test' || text === 'live') return text;
  throw notFound();
}

function FirstPage(): ReactNode {
  const { programId, environment } = program.useParams();
  const [first] = NAVIGATION;
  return first === undefined ? null : <Navigate replace to={first.to} params={{ programId, environment }} />;
}
