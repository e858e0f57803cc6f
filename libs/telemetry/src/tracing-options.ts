/** How traces are sampled, and where they are sent. */

/**
 * `traceidratio` takes a share of the requests; samplers named `parentbased_` also follow the
 * caller's decision.
 */
export const SAMPLERS = [
  'always_on',
  'always_off',
  'traceidratio',
  'parentbased_always_on',
  'parentbased_always_off',
  'parentbased_traceidratio',
] as const;

export type TracingOptions = {
  readonly serviceName: string;
  /** The OTLP/HTTP endpoint, with `/v1/traces`. Without it traces are off. */
  readonly url: string | undefined;
  readonly sampler: (typeof SAMPLERS)[number];
  /** The ratio for `traceidratio`, from 0 to 1. */
  readonly ratio: number;
  /** This is called when spans were lost: neither spans nor requests wait for a full queue. */
  readonly onError: (error: string) => void;
};
