/** How much is known of a person. */
export const VERIFICATION_LEVELS = [
  { value: '0', label: '0: nothing' },
  { value: '1', label: '1' },
  { value: '2', label: '2' },
  { value: '3', label: '3: fully verified' },
] as const;
