{{/* The public paths by service, from files/components.yaml, as YAML: {service: {business: [last parts], exact: [paths],
     below: [beginnings]}}. */}}
{{- define "slotmesh.routes" -}}
{{- $routes := dict -}}
{{- range $service, $row := .Files.Get "files/components.yaml" | fromYaml -}}
{{- if or $row.business $row.exact $row.below -}}
{{- $_ := set $routes $service (dict "business" ($row.business | default list | sortAlpha) "exact" ($row.exact | default list | sortAlpha) "below" ($row.below | default list | sortAlpha)) -}}
{{- end -}}
{{- end -}}
{{- toYaml $routes -}}
{{- end -}}

{{/* The regular expression of a service's business paths, without anchors. A slug is written with nothing that two readers
     could decode in two ways. (route) */}}
{{- define "slotmesh.businessRegex" -}}
/api/public/[A-Za-z0-9_-]+/({{ join "|" .business }})
{{- end -}}

{{/* The regular expression of the paths below a service's beginnings, without anchors. (route) */}}
{{- define "slotmesh.belowRegex" -}}
/({{ range $i, $beginning := .below }}{{ if $i }}|{{ end }}{{ trimPrefix "/" $beginning }}{{ end }})/[A-Za-z0-9._~/-]+
{{- end -}}

{{/* Annotations of an Ingress: the controller's own, and on top those of the values. (root, own: YAML) */}}
{{- define "slotmesh.ingressAnnotations" -}}
{{- mergeOverwrite (.own | fromYaml) (deepCopy .root.Values.frontDoor.ingress.annotations) | toYaml -}}
{{- end -}}

{{- define "slotmesh.ingressTLS" -}}
{{- if .Values.frontDoor.tls.secretName }}
tls:
  - hosts: {{- toYaml .Values.frontDoor.hosts | nindent 6 }}
    secretName: {{ .Values.frontDoor.tls.secretName }}
{{- end }}
{{- end -}}

{{- define "slotmesh.ingressClass" -}}
{{- default .Values.frontDoor.ingress.controller .Values.frontDoor.ingress.className -}}
{{- end -}}

{{/* The backend of an Ingress path. (root, service) */}}
{{- define "slotmesh.backend" -}}
{service: {name: {{ include "slotmesh.fullname" .root }}-{{ .service }}, port: {name: public}}}
{{- end -}}
