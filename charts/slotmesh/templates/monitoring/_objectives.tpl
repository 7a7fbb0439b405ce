{{/*
Two rules for an objective, in YAML {rules: […]}. The objective allows a number of failures in thirty days. A rule fires
if failures are so frequent that this number will be reached early. Each rule uses a long window, so that the alert is
reliable, and a short window, so that it ends when the failures end (multi-window alerts, Google's Site Reliability
Workbook, chapter 5). Fewer than ten failures cause no alert, because one failure is a large share of few requests.
(root, rule)
*/}}
{{- define "slotmesh.objective" -}}
{{- $rules := list -}}
{{- range $severity, $burns := dict "critical" (list (list "1h" "5m" "14.4") (list "6h" "30m" "6")) "warning" (list (list "1d" "2h" "3") (list "3d" "6h" "1")) -}}
{{- $parts := list -}}
{{- range $burn := $burns -}}
{{- $objective := $.rule.objective -}}
{{- $limit := printf "%s * (1 - %v / 100)" (index $burn 2) $.root.Values.monitoring.objectivePercent -}}
{{- $share := "sum(rate(%[1]s[%[3]s])) / sum(rate(%[2]s[%[3]s])) > %[4]s" -}}
{{- $long := printf $share $objective.failed $objective.all (index $burn 0) $limit -}}
{{- $short := printf $share $objective.failed $objective.all (index $burn 1) $limit -}}
{{- $parts = append $parts (printf "(\n  %s\n  and %s\n  and sum(increase(%s[%s])) >= 10\n)" $long $short $objective.failed (index $burn 0)) -}}
{{- end -}}
{{- $rules = append $rules (dict "alert" $.rule.alert "expr" (join "\nor " $parts) "labels" (dict "severity" $severity) "annotations" $.rule.annotations) -}}
{{- end -}}
{{- dict "rules" $rules | toYaml -}}
{{- end -}}
