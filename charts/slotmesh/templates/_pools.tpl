{{/*
Divides postgres.maxConnections, as YAML. Every pod with a pool gets the same number. The replicas count twice, because
in a rollout an old pod holds its connections until it stops, and the new pod is ready before. This also covers a
rollout that changes the number for each pod. Two connections for each service are reserved for its migrations, three
for superusers as in PostgreSQL's default, and one for an operator.

  services  services with a pool
  pods      maximum number of their pods
  kept      connections that are reserved
  each      DATABASE_MAX_CONNS of every pod
  least     minimum for a pod
  wanted    value of maxConnections for which each = least
*/}}
{{- define "slotmesh.connections" -}}
{{- $services := (include "slotmesh.storeCallers" (dict "root" . "name" "postgres") | fromYaml).callers -}}
{{- $pods := 0 -}}
{{- range $services -}}
{{- $settings := include "slotmesh.settings" (dict "root" $ "name" .) | fromYaml -}}
{{- $scale := $settings.autoscaling -}}
{{- $pods = add $pods (mul 2 (ternary $scale.maxReplicas $settings.replicas $scale.enabled)) -}}
{{- end -}}
{{- $pods = max 1 $pods -}}
{{- $least := 4 -}}
{{- $kept := add 4 (mul 2 (len $services)) -}}
{{- $each := div (sub (int .Values.postgres.maxConnections) $kept) $pods -}}
{{- dict "services" $services "pods" $pods "kept" $kept "each" $each "least" $least "wanted" (add $kept (mul $least $pods)) | toYaml -}}
{{- end -}}
