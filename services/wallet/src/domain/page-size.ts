/**
 * The page size in force: a caller may request 1 to `most`. Zero, the value of an unset field,
 * means the default.
 */
export function pageSize(requested: number, most: number, byDefault = 50): number {
  return requested === 0 ? Math.min(byDefault, most) : Math.min(Math.max(Math.trunc(requested), 1), most);
}
