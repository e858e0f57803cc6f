/**
 * Returns the alerts as the Prometheus operator reads them: deploy/observability/alerts.yaml inside
 * a manifest.
 */
export function prometheusRuleOf(alerts: string): string {
  return `# Derived from ../alerts.yaml by \`npm run alerts\`; do not edit.
apiVersion: monitoring.coreos.com/v1
kind: PrometheusRule
metadata:
  name: laurel
spec:
${alerts.replace(/^(?=.)/gm, '  ')}`;
}
