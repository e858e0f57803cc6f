import type { Program } from '../repository/programs.ts';

/**
 * A program as its developer sees it. Only the response to a key's creation shows the key itself.
 */
export function presentProgram(program: Program) {
  return {
    id: program.id,
    name: program.name,
    status: program.status,
    deletion_scheduled: program.deletionScheduled,
    created_at: program.createdAt.toISOString(),
    keys: program.keys.map((key) => ({
      environment: key.environment,
      prefix: key.prefix,
      last4: key.last4,
      created_at: key.createdAt.toISOString(),
      last_used_at: key.lastUsedAt?.toISOString() ?? null,
    })),
  };
}

/** A program as operators see it. */
export function presentOperatorProgram(program: Program) {
  return { ...presentProgram(program), developer_id: program.developerId };
}
