/**
 * The flags with which Node runs a service; the launcher, the tests and the image pass them.
 *
 * V8's young generation is capped at 8 MiB a half: three services under load then hold 530 MiB instead of 820, so that all six fit
 * into one GiB, for about 8 % of the throughput (docs/performance.md).
 */
export const NODE_FLAGS: readonly string[] = ['--max-semi-space-size=8'];
