/**
 * The services' signing keys, cached for a public route. Any caller may read them, so the services
 * are asked at most once a second, however many requests arrive. If a service cannot be reached,
 * its last keys stay listed. Until every service has answered once there is no list: with a list
 * that lacks a key, valid receipts would look forged.
 */
import type { ChallengeClient, TournamentClient } from '@laurel/attempts/client';
import { isRefused } from '@laurel/errors';
import { type ListedSigningKey, mergeSigningKeys } from '../domain/signing-key-list.ts';

export interface SigningKeys {
  /** Returns the keys; rejects while there is no list. */
  read(): Promise<readonly ListedSigningKey[]>;
}

/**
 * How long a list is served from the cache. A service signs with a new key immediately, so the list
 * must have that key within a second.
 */
const FRESH_MS = 1_000;
const DEADLINE_MS = 1_000;

type Signing = Pick<ChallengeClient, 'listSigningKeys'> | Pick<TournamentClient, 'listSigningKeys'>;

/** `elapsedMs` returns the milliseconds since any fixed moment; tests replace it. */
export function createSigningKeys(
  services: readonly Signing[],
  elapsedMs: () => number = () => performance.now(),
): SigningKeys {
  const lastKeys = new Map<Signing, readonly ListedSigningKey[]>();
  let asked: { answer: Promise<readonly ListedSigningKey[]>; endedAt: number } | undefined;

  const askEach = async (): Promise<readonly ListedSigningKey[]> => {
    const lists = services.map(async (service) => {
      try {
        lastKeys.set(service, await ask(service));
      } catch (error) {
        if (!lastKeys.has(service)) throw error;
      }
      return lastKeys.get(service) ?? [];
    });
    return mergeSigningKeys((await Promise.all(lists)).flat());
  };

  return {
    read() {
      if (asked !== undefined && elapsedMs() - asked.endedAt < FRESH_MS) return asked.answer;
      // Until this request has ended, all callers wait for its result.
      const next = { answer: askEach(), endedAt: Number.POSITIVE_INFINITY };
      const end = () => {
        next.endedAt = elapsedMs();
      };
      next.answer.then(end, end);
      asked = next;
      return next.answer;
    },
  };
}

async function ask(service: Signing): Promise<readonly ListedSigningKey[]> {
  const answer = await service.listSigningKeys({}, { deadlineMs: DEADLINE_MS, retryLostReply: true });
  if (isRefused(answer)) throw new Error(`a service refused to list its keys: ${answer.code}`);
  return answer.keys.map(({ keyId, publicKey, from, until = null }) => {
    if (from === undefined) throw new Error(`a service left out the first use of the key ${keyId}`);
    return { keyId, publicKey, from, until };
  });
}
