{{/*
An objective as two rules, in YAML {rules: […]}: of how many may fail in thirty days, so many times as much fail now that they are used up soon. Each
looks at a long window, so that it is true, and at a short one, so that it ends when the failures do (the multi-window alerts of Google's
Site Reliability Workbook, chapter 5). Fewer than ten failures are no alert: where little is asked, one is a large share. (root, rule)
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
