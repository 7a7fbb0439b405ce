{{/* Rules for the internal port: they permit the table's callers, and the collectors of metrics. (root, name) */}}
{{- define "slotmesh.istioPeerRules" -}}
{{- with (include "slotmesh.callers" . | fromYaml).callers -}}
- from:
    - source:
        principals: {{- include "slotmesh.principals" (dict "root" $.root "names" .) | trim | nindent 10 }}
  to: [{operation: {ports: ["9090"], paths: ["/internal/*"]}}]
{{ end -}}
{{- with .root.Values.mesh.metricsAccounts -}}
- from:
    - source:
        principals: {{- include "slotmesh.otherPrincipals" (dict "root" $.root "accounts" .) | trim | nindent 10 }}
  to: [{operation: {ports: ["9090"], methods: [GET], paths: [/metrics]}}]
{{ end -}}
{{- end -}}

{{/* Rules for the public port: they permit the front door and the release's Jobs. (root, name, fronted, outside) */}}
{{- define "slotmesh.istioFrontRules" -}}
{{- if include "slotmesh.behind" . -}}
- from:
    - source:
        principals: {{- include "slotmesh.principals" (dict "root" .root "names" (list "front")) | trim | nindent 10 }}
  to: [{operation: {ports: ["8080"]}}]
{{- else if .outside -}}
- to: [{operation: {ports: ["8080"]}}]
{{- else if or .fronted (eq .name "console") -}}
- from:
    - source:
        principals:
          {{- include "slotmesh.principals" (dict "root" .root "names" (list "operator")) | trim | nindent 10 }}
          {{- if .fronted }}
          {{- include "slotmesh.otherPrincipals" (dict "root" .root "accounts" .root.Values.mesh.frontAccounts) | trim | nindent 10 }}
          {{- end }}
  to: [{operation: {ports: ["8080"]}}]
{{- end -}}
{{- end -}}
