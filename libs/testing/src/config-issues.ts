import { ConfigError, parseConfig } from '@laurel/service';

/** The validation issues of a service's environment; none if its configuration is valid. */
export function configIssuesOf(
  schema: Parameters<typeof parseConfig>[0],
  environment: Readonly<Record<string, string>>,
): readonly string[] {
  try {
    parseConfig(schema, environment);
    return [];
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return error.issues;
  }
}
