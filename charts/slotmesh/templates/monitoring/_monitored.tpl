{{/* Components with metrics, as YAML: the services, and the operator if it runs. */}}
{{- define "slotmesh.monitored" -}}
{{- concat (keys (include "slotmesh.parts" . | fromYaml)) (ternary (list "operator") list .Values.operator.enabled) | sortAlpha | toYaml -}}
{{- end -}}
