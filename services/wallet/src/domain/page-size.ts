/** The page size in force: callers may ask for 1 to `most`; 0, which is what an unset field reads as, means the default. */
export function pageSize(requested: number, most: number, byDefault = 50): number {
  return requested === 0 ? Math.min(byDefault, most) : Math.min(Math.max(Math.trunc(requested), 1), most);
}
