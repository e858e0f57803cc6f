import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type ApiErrorCode, DEFAULT_MESSAGE, HTTP_STATUS, isApiErrorCode, isRefused, refused } from './index.ts';

const codes = Object.keys(HTTP_STATUS) as ApiErrorCode[];

describe('error codes', () => {
  test('every error code has the status that the contract gives it', () => {
    const byStatus = Object.groupBy(codes, (code) => String(HTTP_STATUS[code]));
    expect(byStatus).toEqual({
      400: ['invalid_request'],
      401: ['unauthorized'],
      402: ['insufficient_funds'],
      403: ['blocked', 'insider_entry', 'forbidden'],
      404: ['not_found'],
      409: [
        'challenge_not_available',
        'challenge_already_claimed',
        'rung_locked',
        'attempt_cap_reached',
        'entries_closed',
        'round_closed',
        'attempt_already_settled',
        'idempotency_key_reused',
        'idempotency_in_progress',
        'conflict',
      ],
      410: ['client_reporting_removed'],
      422: ['score_out_of_range', 'tiebreak_required'],
      500: ['internal_error'],
    });
  });

  test('every error code has one default sentence', () => {
    expect(Object.keys(DEFAULT_MESSAGE).sort()).toEqual([...codes].sort());
    for (const message of Object.values(DEFAULT_MESSAGE)) expect(message).toMatch(/^[A-Z].*\.$/);
  });

  test('only the codes of the closed set are error codes', () => {
    for (const code of codes) expect(isApiErrorCode(code)).toBe(true);
    for (const other of ['', 'INTERNAL', 'toString', '__proto__', 'not found'])
      expect(isApiErrorCode(other)).toBe(false);
  });
});

describe('refusals', () => {
  test('a refusal carries its code and a sentence', () => {
    expect(refused('blocked')).toEqual({ kind: 'refused', code: 'blocked', message: DEFAULT_MESSAGE.blocked });
    expect(refused('conflict', 'It is paid.')).toEqual({ kind: 'refused', code: 'conflict', message: 'It is paid.' });
  });

  test('isRefused recognises refusals, and no other value', () => {
    fc.assert(fc.property(fc.constantFrom(...codes), fc.string(), (code, text) => isRefused(refused(code, text))));
    fc.assert(fc.property(fc.anything(), (value) => !isRefused(value)));
    for (const other of [{ kind: 'refused' }, { kind: 'paid', code: 'blocked' }, null])
      expect(isRefused(other)).toBe(false);
  });
});
