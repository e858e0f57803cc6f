/**
 * The flags with which Node runs a service; the launcher, the tests and the image pass them.
 *
 * V8's young generation is capped at 16 MiB a half. Without a cap, each service under load grows by 100 MiB; with 8 the gateway spends an eighth
 * more CPU on a flow (docs/performance.md). With 16 the gateway stays below 350 MiB while it is attacked (`LAUREL_BENCH_PARTS=doors`).
 */
export const NODE_FLAGS: readonly string[] = ['--max-semi-space-size=16'];
