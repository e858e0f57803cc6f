/**
 * Creations and reports under idempotency keys that the service has recorded
 * (libs/attempts/src/domain/idempotency-use.ts).
 */

import type { KeyUse } from '@laurel/proto/common';
import { expectAccepted } from '@laurel/testing';
import { itRecognizesKeys } from '@laurel/testing/key-uses';
import { newId, newOwnedId } from '@laurel/values/ids';
import { describe } from 'vitest';
import { created, FEE, PROGRAM, recorded, useHarness, useReplica, verdictOf } from '../tournament.fixture.ts';

const h = useHarness();
const other = useReplica(h);

const DAYS_MS = 3 * 24 * 3_600_000;

const clientOf = (replica: 0 | 1) => (replica === 0 ? h.tournament : other.tournament);
const withKey = (keyUse: KeyUse) => ({ tenant: PROGRAM, keyUse, requestId: '' });

describe('a request under an idempotency key, with an operation id that the service does not know', () => {
  itRecognizesKeys({
    harness: h,
    feeCents: FEE,
    newAttemptId: () => newOwnedId('tournament'),
    async newContest(fundsCents) {
      const round = await h.openRound({ attemptCap: 1_000 }, { lengthMs: DAYS_MS });
      const player = await h.player(undefined, fundsCents);
      return {
        player,
        async create(creations, replica = 0) {
          const items = creations.map(({ attemptId, keyUse }) => ({
            ...withKey(keyUse),
            attemptId,
            contestId: round.id,
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
        tiebreak: undefined,
        evidenceJson: '',
      }));
      const { results } = expectAccepted(await clientOf(replica).reportOutcomes({ reports: items }));
      return results.map(({ result }) =>
        result?.$case === 'outcome' ? recorded(result).receiptId : verdictOf(result),
      );
    },
  });
});
