/**
 * Creations and reports under idempotency keys that the service has recorded
 * (libs/attempts/src/domain/idempotency-use.ts).
 */

import type { KeyUse } from '@laurel/proto/common';
import { expectAccepted } from '@laurel/testing';
import { itRecognizesKeys } from '@laurel/testing/key-uses';
import { newId, newOwnedId } from '@laurel/values/ids';
import { describe } from 'vitest';
import { created, PROGRAM, recorded, useHarness, useReplica, verdictOf } from '../challenge.fixture.ts';

const h = useHarness();
const other = useReplica(h);

const clientOf = (replica: 0 | 1) => (replica === 0 ? h.challenge : other.challenge);
const withKey = (keyUse: KeyUse) => ({ tenant: PROGRAM, keyUse, requestId: '' });

describe('a request under a recorded idempotency key, with an operation id that the service does not know', () => {
  itRecognizesKeys({
    harness: h,
    feeCents: 100n,
    newAttemptId: () => newOwnedId('challenge'),
    async newContest(fundsCents) {
      const challenge = await h.open({ dailyAttemptCap: 1_000 });
      const player = await h.player(undefined, fundsCents);
      return {
        player,
        async create(creations, replica = 0) {
          const items = creations.map(({ attemptId, keyUse }) => ({
            ...withKey(keyUse),
            attemptId,
            contestId: challenge.id,
            playerRef: player.ref,
            metadataJson: '{}',
          }));
          const { results } = expectAccepted(await clientOf(replica).createAttempts({ creations: items }));
          return results.map(({ result }) => (result?.$case === 'attempt' ? created(result).id : verdictOf(result)));
        },
      };
    },
    async deposit({ accountId }, amountCents) {
      const { environment } = PROGRAM;
      expectAccepted(await h.wallet.deposit({ accountId, environment, amountCents, reference: newId() }));
    },
    async report(attemptId, reports, replica = 0) {
      const items = reports.map(({ operationId, score, keyUse }) => ({
        ...withKey(keyUse),
        operationId,
        attemptId,
        score,
        evidenceJson: '',
      }));
      const { results } = expectAccepted(await clientOf(replica).reportOutcomes({ reports: items }));
      return results.map(({ result }) =>
        result?.$case === 'outcome' ? recorded(result).receiptId : verdictOf(result),
      );
    },
  });
});
