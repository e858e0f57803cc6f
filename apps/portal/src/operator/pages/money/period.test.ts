import { describe, expect, it } from 'vitest';
import { daysUntil, isDay, periodOf } from './period.ts';

const TODAY = '2026-11-26';

describe('the periods of money', () => {
  it('the week ends with the chosen day, and the month is the calendar month of that day', () => {
    expect(periodOf('day', TODAY, TODAY)).toEqual({
      from: TODAY,
      to: TODAY,
      before: '2026-11-25',
      after: undefined,
    });
    expect(periodOf('week', '2026-11-19', TODAY)).toEqual({
      from: '2026-11-13',
      to: '2026-11-19',
      before: '2026-11-12',
      after: TODAY,
    });
    expect(periodOf('month', '2024-02-10', TODAY)).toEqual({
      from: '2024-02-01',
      to: '2024-02-29',
      before: '2024-01-31',
      after: '2024-03-01',
    });
    expect(periodOf('month', TODAY, TODAY)).toMatchObject({ to: '2026-11-30', after: undefined });
    expect(periodOf('week', '2026-11-20', TODAY).after).toBe(TODAY);
    expect(periodOf('week', TODAY, TODAY).after).toBeUndefined();
  });

  it('consecutive weeks do not overlap', () => {
    const { before } = periodOf('week', TODAY, TODAY);
    expect(periodOf('week', before, TODAY).after).toBe(TODAY);
  });

  it('the days that can be chosen end with today', () => {
    expect(daysUntil(TODAY, { from: '2026-11-24', to: '2026-11-30' })).toEqual(['2026-11-24', '2026-11-25', TODAY]);
    expect(daysUntil(TODAY, { from: '2026-02-28', to: '2026-03-01' })).toEqual(['2026-02-28', '2026-03-01']);
  });

  it('only a day of the calendar is accepted as a day', () => {
    expect(['2026-11-26', '2026-02-30', '2026-1-1', 'today', '2026-11-26T00:00'].map(isDay)).toEqual([
      true,
      false,
      false,
      false,
      false,
    ]);
  });
});
