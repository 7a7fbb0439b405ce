{{/* What gives metrics, as YAML: the services, and the operator where it runs. */}}
{{- define "slotmesh.monitored" -}}
{{- concat (keys (include "slotmesh.parts" . | fromYaml)) (ternary (list "operator") list .Values.operator.enabled) | sortAlpha | toYaml -}}
{{- end -}}
