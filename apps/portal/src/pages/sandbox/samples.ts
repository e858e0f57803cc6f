/**
 * What the developer did in the sandbox since the portal was loaded, as calls of a partner's
 * server, by curl and by the SDK. A sample is one call with its real ids. The script has all calls,
 * and creates its own players and attempts, so that it can run again.
 */
import { curlOf, literal, post, type Sample, sdkOf } from '../../kit/samples.ts';
import { requestOf, type SandboxCall } from './calls.ts';

/** A call that Laurel accepted. */
export interface AcceptedCall {
  readonly call: SandboxCall;
  /** The id of the attempt that the call created. */
  readonly attemptId?: string | undefined;
}

export function samplesOf(call: SandboxCall, origin: string): readonly Sample[] {
  return [
    { name: 'curl', text: curlOfCall(call, origin) },
    { name: 'SDK', text: `${sdkOfCall(call)};` },
  ];
}

/**
 * The steps that change what a visit found, and that Laurel therefore accepts once. A script that
 * repeated them would end with their conflict.
 */
const ONCE: Partial<Record<SandboxCall['kind'], string>> = {
  'close-entries': 'Closing a round to entries is left out: a round closes once.',
  'close-round': 'Closing a round is left out: a round closes once.',
  'retry-delivery': 'Retrying a delivery is left out: it is accepted only while a retry is scheduled.',
};

export function scriptsOf(steps: readonly AcceptedCall[], origin: string): readonly Sample[] {
  const names = new Map<string, Variable>();
  const shell: string[] = [];
  const sdk: string[] = [];
  let attempts = 0;
  let players = 0;
  for (const { call, attemptId } of steps) {
    const once = ONCE[call.kind];
    if (once !== undefined) {
      shell.push(`# ${once}`);
      sdk.push(`// ${once}`);
      continue;
    }
    const ref = call.kind === 'put-player' ? call.body.player_ref : undefined;
    if (ref !== undefined && !names.has(ref) && isPlain(ref)) {
      players += 1;
      names.set(ref, { place: `__PLAYER_${players}__`, shell: `$PLAYER_${players}`, sdk: `player${players}` });
      shell.push(`PLAYER_${players}="${ref}-$RUN"`);
      sdk.push(`const player${players} = \`${ref}-\${run}\`;`);
    }
    const named = withNames(call, names);
    const key = call.kind === 'create-attempt' ? `__RUN__-${attempts + 1}` : undefined;
    const keyed = key === undefined ? named : ({ ...named, idempotencyKey: key } as SandboxCall);
    const curl = fillShell(curlOfCall(keyed, '__BASE__'), names);
    const line = fillSdk(sdkOfCall(keyed), names);
    if (attemptId === undefined) {
      shell.push(`${curl}\necho`);
      sdk.push(`console.log(${line});`);
      continue;
    }
    attempts += 1;
    const name = `ATTEMPT_${attempts}`;
    names.set(attemptId, { place: `__${name}__`, shell: `$${name}`, sdk: `attempt${attempts}.id` });
    shell.push(
      [
        `ANSWER=$(${curl}) || { echo "$ANSWER" >&2; exit 1; }`,
        `${name}=$(sed -n 's/^{"id":"\\([^"]*\\)".*/\\1/p' <<< "$ANSWER")`,
        `echo "attempt $${name}"`,
      ].join('\n'),
    );
    sdk.push(`const attempt${attempts} = ${line};\nconsole.log(attempt${attempts});`);
  }
  const shellHead = [
    '#!/usr/bin/env bash',
    '# LAUREL_TEST_KEY has the test key. Each run plays with players of its own.',
    'set -euo pipefail',
    `LAUREL_BASE_URL="\${LAUREL_BASE_URL:-${origin}}"`,
    'RUN="$(date +%s)-$$"',
  ];
  const sdkHead = ["import { randomUUID } from 'node:crypto';", sdkOf('const run = randomUUID();', 'test', origin)];
  return [
    { name: 'curl', text: `${shellHead.join('\n')}\n\n${shell.join('\n\n')}\n` },
    { name: 'SDK', text: `${sdkHead.join('\n')}\n\n${sdk.join('\n')}\n` },
  ];
}

/** A value that differs in each run of a script. */
interface Variable {
  /** The placeholder for the value until the script is written. */
  readonly place: string;
  readonly shell: string;
  readonly sdk: string;
}

/** Whether a ref reads the same in a URL, in a shell and in a template of JavaScript. */
function isPlain(ref: string): boolean {
  return /^[\w.-]{1,200}$/.test(ref);
}

function withNames(call: SandboxCall, names: ReadonlyMap<string, Variable>): SandboxCall {
  const placeOf = (value: string) => names.get(value)?.place ?? value;
  switch (call.kind) {
    case 'put-player':
      return { ...call, body: { ...call.body, player_ref: placeOf(call.body.player_ref) } };
    case 'create-attempt':
      return { ...call, body: { ...call.body, player_ref: placeOf(call.body.player_ref) } };
    case 'hold-next-award':
      return { ...call, playerRef: placeOf(call.playerRef) };
    case 'report-outcome':
    case 'expire-attempt':
      return { ...call, attemptId: placeOf(call.attemptId) };
    default:
      return call;
  }
}

/** Fills in variables outside the single quotes, inside which a shell reads no variable. */
function fillShell(text: string, names: ReadonlyMap<string, Variable>): string {
  let filled = text.replace("'__BASE__", `"$LAUREL_BASE_URL"'`).replaceAll('__RUN__', `'"$RUN"'`);
  for (const { place, shell } of names.values()) filled = filled.replaceAll(place, `'"${shell}"'`);
  return filled;
}

function fillSdk(text: string, names: ReadonlyMap<string, Variable>): string {
  let filled = text.replace(/'__RUN__(-\d+)'/g, '`$' + '{run}$1`');
  for (const { place, sdk } of names.values()) filled = filled.replaceAll(`'${place}'`, sdk);
  return filled;
}

function curlOfCall(call: SandboxCall, origin: string): string {
  const { partnerPath, body, idempotencyKey } = requestOf(call);
  return curlOf({ ...post(partnerPath, body, idempotencyKey), options: '-sS --fail-with-body' }, 'test', origin);
}

function sdkOfCall(call: SandboxCall): string {
  switch (call.kind) {
    case 'put-player':
      return `await laurel.sandbox.createPlayer(${literal(call.body)})`;
    case 'hold-next-award':
      return `await laurel.sandbox.holdNextAward(${literal(call.playerRef)})`;
    case 'create-attempt':
      return `await laurel.attempts.create(${literal(call.body)}, { idempotencyKey: ${literal(call.idempotencyKey)} })`;
    case 'report-outcome':
      return `await laurel.attempts.reportOutcome(${literal(call.attemptId)}, ${literal(call.body)})`;
    case 'expire-attempt':
      return `await laurel.sandbox.expireAttempt(${literal(call.attemptId)})`;
    case 'close-entries':
      return `await laurel.sandbox.closeEntries(${literal(call.roundId)})`;
    case 'close-round':
      return `await laurel.sandbox.closeRound(${literal(call.roundId)})`;
    case 'retry-delivery':
      return `await laurel.sandbox.retryDelivery(${literal(call.deliveryId)})`;
  }
}
