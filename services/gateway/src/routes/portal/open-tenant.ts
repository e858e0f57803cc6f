/**
 * The environments of a program in which its signed-in developer may change something: those in
 * which a key of the program would work. Otherwise a session could do more than a key, which a
 * suspension or the configuration may refuse.
 */
import { type Refused, refused } from '@laurel/errors';
import { ENVIRONMENTS } from '@laurel/proto/enum-names';
import type { GatewayConfig } from '../../config.ts';
import type { Principal } from '../../domain/principal.ts';
import { openEnvironmentsOf } from '../../domain/program.ts';
import type { Program } from '../../repository/programs.ts';

type Tenant = Principal['tenant'];

/** The environments whose API keys this process accepts, among the dependencies of a route. */
export interface AcceptingEnvironments {
  readonly config: Pick<GatewayConfig, 'ACCEPTED_ENVIRONMENTS'>;
}

/** Why the tenant is refused, for the routes' documentation too. */
export const NO_KEY_WORKS =
  'No key of the program works in this environment: this installation does not accept it, or the program is not approved, suspended, closed or about to be deleted.';

/** The program in this environment, if a key of it works there. Refuses: conflict. */
export function openTenantOf(
  program: Program,
  environment: Tenant['environment'],
  { config }: AcceptingEnvironments,
): Tenant | Refused {
  const isOpen = openEnvironmentsOf(program).some(
    (name) => ENVIRONMENTS[name] === environment && config.ACCEPTED_ENVIRONMENTS.includes(name),
  );
  return isOpen ? { programId: program.id, environment } : refused('conflict', NO_KEY_WORKS);
}
