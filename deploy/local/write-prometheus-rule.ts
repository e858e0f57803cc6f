/** `npm run alerts` writes the manifest of the alerts for Kubernetes. */
import { readFileSync, writeFileSync } from 'node:fs';
import { prometheusRuleOf } from './prometheus-rule.ts';

const folder = new URL('../observability/', import.meta.url);
writeFileSync(
  new URL('kubernetes/prometheus-rule.yaml', folder),
  prometheusRuleOf(readFileSync(new URL('alerts.yaml', folder), 'utf8')),
);
