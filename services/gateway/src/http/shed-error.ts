/**
 * A request that this process turns away on purpose, so that it does not exhaust what all requests
 * share. It gets a 500.
 */
export class ShedError extends Error {}
