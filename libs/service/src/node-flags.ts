/**
 * The flags with which Node runs a service; the launcher, the tests and the image pass them.
 *
 * They cap V8's young generation at 16 MiB per semi-space. Without a cap, each service grows by 100
 * MiB under load. With 8 MiB the gateway spends an eighth more CPU on a flow
 * (docs/performance-history.md). With 16 MiB it stays below 350 MiB while it is attacked
 * (`LAUREL_BENCH_PARTS=attack`).
 */
export const NODE_FLAGS: readonly string[] = ['--max-semi-space-size=16'];

/**
 * The same flags for a process that runs several services, and allocates as much as all of them.
 * With 16 MiB it completes an eighth fewer flows at 256 clients; with 64 MiB it takes 54 MiB more
 * (docs/performance.md, "One process for all services").
 */
export const ONE_PROCESS_NODE_FLAGS: readonly string[] = ['--max-semi-space-size=64'];
