/**
 * The examples of the routes under `/api`, from `recorded.json`, which
 * tests/contract/own-routes.test.ts records.
 */
import { readFileSync } from 'node:fs';
import type { AnyRoute } from '../../http/route.ts';
import { type RouteExamples, singleExample } from './example.ts';

interface Recorded {
  readonly params?: Readonly<Record<string, string>>;
  readonly request?: unknown;
  readonly response?: unknown;
}

const RECORDED: Readonly<Record<string, Recorded>> = JSON.parse(
  readFileSync(new URL('recorded.json', import.meta.url), 'utf8'),
);

export function recordedExamplesOf({ name, summary, success }: AnyRoute): RouteExamples {
  const { request, response } = RECORDED[name] ?? {};
  return {
    ...(request !== undefined && { request: singleExample(summary, request) }),
    ...(response !== undefined && { response: singleExample(success.description, response) }),
  };
}

export function recordedParameterOf({ name }: AnyRoute, parameter: string): string | undefined {
  return RECORDED[name]?.params?.[parameter];
}
