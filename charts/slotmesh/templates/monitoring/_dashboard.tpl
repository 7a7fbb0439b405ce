{{/* A dashboard of files/dashboards.yaml in Grafana's schema, two panels in each row. (name, title, panels) */}}
{{- define "slotmesh.dashboard" -}}
{{- $source := dict "type" "prometheus" "uid" "$datasource" -}}
title: {{ .title | quote }}
uid: slotmesh-{{ .name }}
tags: [slotmesh]
schemaVersion: 39
editable: true
refresh: 30s
time: {from: now-3h, to: now}
links:
  - {type: dashboards, title: Slotmesh, tags: [slotmesh], asDropdown: false, includeVars: true, keepTime: true, targetBlank: false, icon: "", tooltip: "", url: ""}
templating:
  list:
    - {name: datasource, type: datasource, query: prometheus, label: Prometheus}
    - name: namespace
      type: query
      datasource: {{ $source | toJson }}
      query: label_values(http_server_request_duration_seconds_count, namespace)
      refresh: 2
      label: Namespace
    - name: component
      type: query
      datasource: {{ $source | toJson }}
      query: label_values(http_server_request_duration_seconds_count{namespace="$namespace"}, component)
      refresh: 2
      label: Service
      multi: true
      includeAll: true
      allValue: ".*"
      current: {text: All, value: $__all}
panels:
  {{- range $place, $panel := .panels }}
  - id: {{ add1 $place }}
    title: {{ $panel.title | quote }}
    type: timeseries
    datasource: {{ $source | toJson }}
    gridPos: {x: {{ mul 12 (mod $place 2) }}, "y": {{ mul 8 (div $place 2) }}, w: 12, h: 8}
    fieldConfig: {defaults: {unit: {{ $panel.unit }}, min: 0}, overrides: []}
    targets:
      {{- range $number, $legend := keys $panel.queries | sortAlpha }}
      - {refId: {{ substr $number (int (add1 $number)) "ABCDEF" }}, datasource: {{ $source | toJson }}, expr: {{ get $panel.queries $legend | quote }}, legendFormat: {{ $legend | quote }}}
      {{- end }}
  {{- end }}
{{- end -}}
