/** Checks a saved receipt without Laurel. */
export function verifySamples(file: string, origin: string) {
  const keys = `--keys ${origin}/.well-known/laurel-keys.json`;
  return [{ name: 'Command line', text: `npx laurel verify-receipt ${file} ${keys}` }];
}
