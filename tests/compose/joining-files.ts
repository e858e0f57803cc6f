/**
 * The black-box files that also run against the containers. `npm test` runs every file that joins a
 * stack, on processes with the same code, so running all of them again would prove the few
 * differences of containers over and over. This list has one file of each folder of tests/, and the
 * files that test such a difference: networks, certificates, roles, the secrets of
 * docker-compose.yml, an image's contents, a container's limits. `npm run test:compose -- --all`
 * runs every one but `ONLY_ON_PROCESSES`.
 */
export const JOINING_IN_CONTAINERS: Readonly<Record<string, string>> = {
  'tests/contract/document.test.ts': 'the OpenAPI document is a file that the image has to hold',
  'tests/integrations/push.test.ts':
    'the gateway hands a push on, byte for byte, and two owners settle it: four networks and five certificates',
  'tests/money/payouts.test.ts':
    'prizes of challenges: the challenge service pays through the wallet, on a network that the two share',
  'tests/money/round-receipts.test.ts':
    'prizes and receipts of rounds: the tournament service and the wallet; the signing seed is a secret of docker-compose.yml',
  'tests/operator-api/action-subjects.test.ts':
    'every change of an operator, so every rpc that an operator can cause, by certificate',
  'tests/partner-api/rounds.test.ts':
    'entries and outcomes of rounds over /v1, with bodies and headers through the published port',
  'tests/security/database-roles.test.ts':
    'roles and privileges as the container `databases` and the migrations’ containers made them',
  'tests/webhooks/events.test.ts':
    'events through NATS, as its users, and out of the webhook service’s network to a partner’s TLS server',
};

/** Files that join a stack and need what the containers do not have. */
export const ONLY_ON_PROCESSES: readonly string[] = [
  // The role that deletes archived months, which an operator creates for a run.
  'tests/security/archive-role.test.ts',
];

/** `npm run test:compose -- --all` sets this variable. */
export const ALL_VARIABLE = 'LAUREL_COMPOSE_ALL';
