/**
 * Checks alerts and dashboards against the metrics that the services export, the page that
 * describes these metrics, and the runbooks. An expression about a metric or a label that does not
 * exist is valid, never fires, and shows nothing.
 */
import { execFile } from 'node:child_process';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { obtainPromtool } from '@laurel/local-infrastructure/promtool';
import { metrics } from '@laurel/telemetry';
import { SERVICE_NAMES } from '@laurel/topology';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { prometheusRuleOf } from './prometheus-rule.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const FOLDER = join(ROOT, 'deploy/observability');
const CACHE = join(ROOT, 'node_modules/.cache/laurel');
const read = (file: string) => readFileSync(join(ROOT, file), 'utf8');

interface Alert {
  readonly alert: string;
  readonly expr: string;
  readonly labels: { readonly severity: string };
  readonly annotations: { readonly summary: string; readonly runbook: string };
}
interface Panel {
  readonly id: number;
  readonly title: string;
  readonly description: string;
  readonly datasource: { readonly uid: string };
  readonly targets: readonly { readonly expr: string; readonly legendFormat: string }[];
}
interface Dashboard {
  readonly uid: string;
  readonly panels: readonly Panel[];
}
type AlertTest = {
  readonly name: string;
  readonly promql_expr_test: readonly { readonly expr: string; readonly exp_samples: readonly object[] }[];
};

const ALERT_TESTS = ['alerts.test.yaml', 'alerts-of-hours.test.yaml'];
const ALERTS_TEXT = read('deploy/observability/alerts.yaml');
const rules: { readonly groups: readonly { readonly rules: readonly Alert[] }[] } = parse(ALERTS_TEXT);
const alerts = rules.groups.flatMap((group) => group.rules);
const dashboards = globSync('dashboards/*.json', { cwd: FOLDER }).map((file) => ({
  file,
  dashboard: JSON.parse(readFileSync(join(FOLDER, file), 'utf8')) as Dashboard,
}));
const panels = dashboards.flatMap(({ dashboard }) => dashboard.panels);

/**
 * The metrics of this repository's code, each with its labels. A histogram also has the names and
 * the label of its buckets.
 */
function exportedByCode(): ReadonlyMap<string, ReadonlySet<string>> {
  const files = globSync('{libs,services}/*/src/**/*.ts', { cwd: ROOT }).filter(
    (file) => !/\.(test|fixture)\.ts$/.test(file),
  );
  const made = /\b(counter|gauge|histogram)(?:<\w+>)?\(\s*'(laurel_\w+)',\s*(?:'[^']*'|"[^"]*"),?([^;]*?)\)/g;
  return new Map(
    files.flatMap((file) =>
      [...read(file).matchAll(made)].map(([, kind, name = '', rest = '']) => {
        // The labels are the last list of the call; the buckets of a histogram are a constant.
        const labels = [...(/\[([^\]]*)\]/.exec(rest)?.[1] ?? '').matchAll(/'(\w+)'/g)].map(([, label = '']) => label);
        return [name, new Set(kind === 'histogram' ? [...labels, 'le'] : labels)] as const;
      }),
    ),
  );
}

/** The comment of an alert, between its name and its expression. */
function commentOf(alert: string): string {
  const [, lines = ''] = new RegExp(`- alert: ${alert}\\n((?: +# .*\\n)*)`).exec(ALERTS_TEXT) ?? [];
  return lines.replace(/^ +# /gm, '').trim();
}

const exported = exportedByCode();
/** The labels of every series: the process sets the service, Prometheus the target. */
const OF_EVERY_SERIES = ['service', 'job', 'instance'];

/**
 * The metrics that cert-manager, which issues certificates in Kubernetes, exports for each
 * certificate.
 */
const OF_CERT_MANAGER: ReadonlyMap<string, ReadonlySet<string>> = new Map([
  [
    'certmanager_certificate_renewal_timestamp_seconds',
    new Set(['name', 'namespace', 'issuer_name', 'issuer_kind', 'issuer_group']),
  ],
]);

function labelsOf(series: string): ReadonlySet<string> | undefined {
  if (OF_CERT_MANAGER.has(series)) return OF_CERT_MANAGER.get(series);
  if (series === 'up') return new Set();
  if (/^(process|nodejs)_/.test(series)) return metrics.getSingleMetric(series) === undefined ? undefined : new Set();
  return exported.get(series) ?? exported.get(series.replace(/_(bucket|count|sum)$/, ''));
}

/** The names in an expression that no service exports, as sentences. */
function unknownIn(expr: string): readonly string[] {
  const names = [...expr.matchAll(/\b((?:laurel|process|nodejs|certmanager)_\w+|up)\b(?:\{([^}]*)\})?/g)];
  const known = new Set(OF_EVERY_SERIES);
  const issues: string[] = [];
  for (const [, name = '', selector = ''] of names) {
    const labels = labelsOf(name);
    if (labels === undefined) issues.push(`no service exports ${name}`);
    for (const label of labels ?? []) known.add(label);
    const selected = [...selector.matchAll(/(\w+)\s*(?:=~|!~|!=|=)/g)].map(([, label = '']) => label);
    issues.push(
      ...selected
        .filter((label) => !labels?.has(label) && !OF_EVERY_SERIES.includes(label))
        .map((label) => `${name} has no label ${label}`),
    );
  }
  const grouped = [...expr.matchAll(/\b(?:by|on|without)\s*\(([^)]*)\)/g)].flatMap(([, list = '']) =>
    list.split(/[\s,]+/),
  );
  issues.push(...grouped.filter((label) => !known.has(label)).map((label) => `it groups by ${label}, which none has`));
  return names.length === 0 ? [...issues, 'it names no metric'] : issues;
}

/** The names within `{{ }}` of a text that are not labels of the expression's result. */
function unknownInTemplate(text: string, expr: string): readonly string[] {
  const used = [...text.matchAll(/\{\{\s*(?:\$labels\.)?(\w+)\s*\}\}/g)].map(([, label = '']) => label);
  const groups = [...expr.matchAll(/\bby\s*\(([^)]*)\)/g)].map(([, list = '']) => list.split(/[\s,]+/));
  const kept = groups.length === 0 ? [...OF_EVERY_SERIES, ...labelsUsed(expr)] : groups.flat();
  return used.filter((label) => !kept.includes(label));
}

const labelsUsed = (expr: string) => [...expr.matchAll(/(\w+)=/g)].map(([, label = '']) => label);

test('the scan of the code finds metrics of every kind, with their labels', () => {
  expect(exported.size).toBeGreaterThan(40);
  expect([...(exported.get('laurel_http_request_duration_seconds') ?? [])]).toEqual([
    'route',
    'status',
    'environment',
    'le',
  ]);
  expect([...(exported.get('laurel_unfinished_items') ?? [])]).toEqual(['stage', 'environment']);
  expect([...(exported.get('laurel_connections') ?? ['?'])]).toEqual([]);
  expect(unknownIn('sum by (owner) (laurel_no_such{a="b"}) / laurel_breaker_open{cause="x"}')).toEqual([
    'no service exports laurel_no_such',
    'laurel_no_such has no label a',
    'laurel_breaker_open has no label cause',
    'it groups by owner, which none has',
  ]);
});

test('docs/operations/metrics.md lists exactly the metrics of the code with their labels', () => {
  const rows = [...read('docs/operations/metrics.md').matchAll(/^\| `(laurel_\w+)` +\| (.*?) *\| (.*?) *\|/gm)];
  const documented = rows.map(([, name = '', labels = '']) => [
    name,
    [...labels.matchAll(/`(\w+)`/g)].map(([, label]) => label),
  ]);
  const inCode = [...exported].map(([name, labels]) => [name, [...labels].filter((label) => label !== 'le')]);
  expect(documented.toSorted()).toEqual(inCode.toSorted());
});

describe('an alert', () => {
  test.each(alerts)('$alert names metrics and labels that exist', ({ expr, annotations }) => {
    expect(unknownIn(expr)).toEqual([]);
    expect(unknownInTemplate(annotations.summary, expr)).toEqual([]);
  });

  test.each(alerts)('$alert has a severity, and its own heading in the runbook', ({ alert, labels, annotations }) => {
    expect(['critical', 'warning']).toContain(labels.severity);
    const [file = '', anchor] = annotations.runbook.split('#');
    expect(anchor).toBe(alert.toLowerCase());
    expect(read(file)).toContain(`\n## ${alert}\n`);
  });

  test('every alert has a test in which it is silent and one in which it fires', () => {
    const tests = ALERT_TESTS.flatMap(
      (file) => (parse(read(`deploy/observability/${file}`)) as { readonly tests: readonly AlertTest[] }).tests,
    );
    const names = alerts.map(({ alert }) => alert);
    expect(tests.map(({ name }) => name).toSorted()).toEqual(names.toSorted());
    for (const { name, promql_expr_test: proofs } of tests) {
      const [silent, firing] = proofs;
      expect(proofs.every(({ expr }) => expr.includes(`alertname="${name}"`))).toBe(true);
      expect([silent?.exp_samples.length, firing?.exp_samples.length]).toEqual([0, 1]);
    }
    const runbooks = [...read('docs/operations/alerts.md').matchAll(/^## (Laurel\w+)$/gm)].map(([, name]) => name);
    expect(runbooks).toEqual(names);
  });

  test('an alert fires for every service of which no replica responds', () => {
    const { expr = '' } = alerts.find(({ alert }) => alert === 'LaurelServiceMissing') ?? {};
    for (const service of SERVICE_NAMES) expect(expr).toContain(`absent(laurel_build_info{service="${service}"})`);
  });

  test.each(alerts.filter(({ labels }) => labels.severity === 'critical'))(
    '$alert notifies no one about play money, or its comment says why it covers both environments',
    ({ alert, expr }) => {
      const series = [...expr.matchAll(/\b(laurel_\w+|up)\b(?:\{([^}]*)\})?/g)];
      for (const [, name = '', selector = ''] of series) {
        if (labelsOf(name)?.has('environment')) expect(selector).toContain('environment!="test"');
        expect(selector).not.toContain('environment="');
      }
      const isApart = series.every(([, name = '']) => labelsOf(name)?.has('environment'));
      expect([isApart, commentOf(alert).startsWith('Both environments: ')]).toEqual([isApart, !isApart]);
    },
  );

  test('every alert that concerns only play money is a warning', () => {
    const ofTest = alerts.filter(({ expr }) => expr.includes('environment="test"'));
    expect(ofTest.map(({ labels }) => labels.severity)).toEqual(ofTest.map(() => 'warning'));
  });

  test('each alert about a stage of real money has a counterpart for play money', () => {
    const ofTest = alerts.filter(({ expr }) => expr.includes('environment="test"'));
    const patternsIn = (some: readonly Alert[]) =>
      some.flatMap(({ expr }) =>
        [...expr.matchAll(/stage=~?"([^"]+)"/g)].flatMap(([, pattern = '']) => pattern.split('|')),
      );
    const covered = patternsIn(ofTest).map((pattern) => new RegExp(`^${pattern}$`));
    // No operator reviews held payouts of play money.
    const ofLive = patternsIn(alerts.filter((alert) => !ofTest.includes(alert))).filter((one) => one !== 'payout_held');
    expect(ofLive.length).toBeGreaterThan(6);
    expect(ofLive.filter((stage) => !covered.some((pattern) => pattern.test(stage.replace('.+', 'x'))))).toEqual([]);
  });

  test('every stage that an alert names is in the table of stages', () => {
    const stages = [...read('docs/operations/metrics.md').matchAll(/^\| `([a-z_]+)` +\|/gm)].map(([, stage]) => stage);
    const named = [...alerts, ...panels.flatMap(({ targets }) => targets)].flatMap(({ expr }) =>
      [...expr.matchAll(/stage(?:=~|!~|=)"([^"]+)"/g)].flatMap(([, pattern = '']) => pattern.split('|')),
    );
    expect(named.length).toBeGreaterThan(8);
    for (const pattern of named)
      expect(stages.some((stage) => new RegExp(`^${pattern}$`).test(stage ?? ''))).toBe(true);
  });
});

describe('a dashboard', () => {
  const targets = panels.flatMap(({ title, targets: all }) => all.map((target) => ({ title, ...target })));

  test.each(targets)('the panel $title uses metrics and labels that exist: $expr', ({ expr, legendFormat }) => {
    expect(unknownIn(expr)).toEqual([]);
    expect(unknownInTemplate(legendFormat, expr)).toEqual([]);
  });

  test('each panel has a description and a provisioned data source', () => {
    const { datasources }: { readonly datasources: readonly { readonly uid: string }[] } = parse(
      read('deploy/observability/grafana/datasources.yaml'),
    );
    for (const { dashboard } of dashboards) {
      const ids = dashboard.panels.map(({ id }) => id);
      expect(new Set(ids).size).toBe(ids.length);
    }
    for (const { description, datasource } of panels) {
      expect(description).not.toBe('');
      expect(datasources.map(({ uid }) => uid)).toContain(datasource.uid);
    }
    expect(new Set(dashboards.map(({ dashboard }) => dashboard.uid)).size).toBe(dashboards.length);
  });
});

describe('the overlay', () => {
  type Container = { readonly image?: string; readonly networks?: readonly string[]; readonly environment?: object };
  const compose: { readonly services: Readonly<Record<string, Container>> } = parse(
    read('deploy/observability/docker-compose.yml'),
    { merge: true },
  );

  test('each image is pinned to a version', () => {
    const images = Object.values(compose.services).flatMap(({ image }) => image ?? []);
    expect(images.length).toBe(4);
    for (const image of images) expect(image).toMatch(/:v?\d+\.\d+\.\d+$/);
  });

  test('Prometheus and the collector reach each service over a network without other services', () => {
    const scraped = parse(read('deploy/observability/prometheus.yaml')).scrape_configs[0].dns_sd_configs[0].names;
    expect(scraped.toSorted()).toEqual(SERVICE_NAMES.toSorted());
    for (const service of SERVICE_NAMES) {
      const network = `${service}-telemetry`;
      const on = Object.entries(compose.services).flatMap(([name, { networks }]) =>
        networks?.includes(network) ? name : [],
      );
      expect(on.toSorted()).toEqual(['collector', 'prometheus', service].toSorted());
      expect(compose.services[service]?.environment).toMatchObject({
        OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector:4318',
      });
    }
  });

  test('Kubernetes gets the same alerts and every dashboard', () => {
    const rule = read('deploy/observability/kubernetes/prometheus-rule.yaml');
    expect(rule).toBe(prometheusRuleOf(read('deploy/observability/alerts.yaml')));
    expect(parse(rule).spec).toEqual(rules);
    const { configMapGenerator } = parse(read('deploy/observability/kustomization.yaml'));
    expect(configMapGenerator[0].files.toSorted()).toEqual(dashboards.map(({ file }) => file).toSorted());
  });
});

test('promtool confirms when each alert is silent and when it fires', async ({ skip }) => {
  const promtool = await obtainPromtool(CACHE).catch((error: unknown) => {
    if (process.env.CI !== undefined) throw error;
    return skip(`there is no promtool, and none could be fetched: ${String(error)}`);
  });
  const run = async (...args: string[]) => (await promisify(execFile)(promtool, args, { cwd: FOLDER })).stdout;
  expect(await run('check', 'rules', 'alerts.yaml')).toContain(`SUCCESS: ${alerts.length} rules found`);
  for (const file of ALERT_TESTS) expect(await run('test', 'rules', file)).toContain('SUCCESS');
}, 180_000);
