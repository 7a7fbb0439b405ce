{{/*
How postgres.maxConnections is divided, as YAML. Every pod with a pool gets the same: its share grows with its service's
pods. Twice the replicas count: in a rollout an old pod holds its connections until it has stopped, when its successor
is ready already. That also bounds a change of the share itself. Two for each service are kept for its migrations, three
as PostgreSQL keeps them for superusers, one for who looks.

  services  that have a pool
  pods      of theirs at most
  kept      connections that belong to no pod
  each      DATABASE_MAX_CONNS of every pod
  least     what a pod needs
  wanted    the maxConnections with which each is least
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
