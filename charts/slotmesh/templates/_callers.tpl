{{/* Services that call the internal port of the named service, as YAML {callers: […]}. (root, name) */}}
{{- define "slotmesh.callers" -}}
{{- $callers := list -}}
{{- $name := .name -}}
{{- range $caller, $row := .root.Files.Get "files/components.yaml" | fromYaml -}}
{{- if has $name $row.calls -}}{{- $callers = append $callers $caller -}}{{- end -}}
{{- end -}}
{{- dict "callers" $callers | toYaml -}}
{{- end -}}

{{/* Services that use the named store, as YAML {callers: […]}. (root, name: postgres or redis) */}}
{{- define "slotmesh.storeCallers" -}}
{{- $callers := list -}}
{{- $name := .name -}}
{{- range $caller, $row := .root.Files.Get "files/components.yaml" | fromYaml -}}
{{- if has $name ($row.stores | default list) -}}{{- $callers = append $callers $caller -}}{{- end -}}
{{- end -}}
{{- dict "callers" $callers | toYaml -}}
{{- end -}}

{{/* Peers of a NetworkPolicy: the pods of the named components of this release. (root, names) */}}
{{- define "slotmesh.peers" -}}
- podSelector:
    matchLabels:
      app.kubernetes.io/name: slotmesh
      app.kubernetes.io/instance: {{ .root.Release.Name }}
    matchExpressions:
      - {key: app.kubernetes.io/component, operator: In, values: [{{ join ", " .names }}]}
{{- end -}}
