/**
 * Rules for every pod of Laurel, in whichever file it is described: no privilege, no token of the
 * API, and no memory without a limit.
 */
import { type Manifest, titleOf } from './manifest.ts';

type Container = {
  readonly name: string;
  readonly securityContext?: {
    readonly allowPrivilegeEscalation?: boolean;
    readonly readOnlyRootFilesystem?: boolean;
    readonly capabilities?: { readonly drop?: readonly string[]; readonly add?: readonly string[] };
  };
  readonly resources?: {
    readonly requests?: Readonly<Record<string, string>>;
    readonly limits?: Readonly<Record<string, string>>;
  };
  readonly startupProbe?: object;
  readonly readinessProbe?: object;
  readonly livenessProbe?: object;
};

type PodSpec = {
  readonly automountServiceAccountToken?: boolean;
  readonly securityContext?: { readonly runAsNonRoot?: boolean; readonly seccompProfile?: { readonly type?: string } };
  readonly containers: readonly Container[];
  readonly initContainers?: readonly Container[];
};

/** Every rule that a workload breaks, as a sentence. An object without pods breaks none. */
export function issuesOfPods(manifest: Manifest): readonly string[] {
  const { template } = (manifest.spec ?? {}) as { readonly template?: { readonly spec?: PodSpec } };
  const pod = template?.spec;
  if (pod?.containers === undefined) return [];
  const rules: [boolean, string][] = [
    [pod.automountServiceAccountToken === false, 'its pods have a token of the API'],
    [pod.securityContext?.runAsNonRoot === true, 'its pods may run as root'],
    [pod.securityContext?.seccompProfile?.type === 'RuntimeDefault', 'its pods may make every system call'],
  ];
  for (const container of [...pod.containers, ...(pod.initContainers ?? [])]) {
    const { name, securityContext: security, resources } = container;
    rules.push(
      [security?.allowPrivilegeEscalation === false, `${name} may gain privileges`],
      [security?.readOnlyRootFilesystem === true, `${name} may change its own files`],
      [security?.capabilities?.drop?.includes('ALL') === true, `${name} has capabilities`],
      [security?.capabilities?.add === undefined, `${name} adds capabilities`],
      [resources?.requests?.cpu !== undefined, `${name} requests no CPU`],
      [resources?.requests?.memory !== undefined, `${name} requests no memory`],
      [resources?.limits?.memory !== undefined, `${name} has no limit of memory`],
    );
    if (manifest.kind !== 'Deployment') continue;
    const { startupProbe, readinessProbe, livenessProbe } = container;
    const hasProbes = [startupProbe, readinessProbe, livenessProbe].every((probe) => probe !== undefined);
    rules.push([hasProbes, `${name} lacks a probe`]);
  }
  return rules.flatMap(([holds, issue]) => (holds ? [] : [`${titleOf(manifest)}: ${issue}`]));
}
