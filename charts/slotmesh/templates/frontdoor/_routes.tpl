{{/* The public paths by service, from files/paths.yaml, as YAML: {service: {business: [last parts], exact: [paths]}}. */}}
{{- define "slotmesh.routes" -}}
{{- $table := .Files.Get "files/paths.yaml" | fromYaml -}}
{{- $routes := dict -}}
{{- range $part, $service := $table.business -}}
{{- $route := index $routes $service | default (dict "business" list "exact" list) -}}
{{- $_ := set $route "business" (append $route.business $part) -}}
{{- $_ := set $routes $service $route -}}
{{- end -}}
{{- range $path, $service := $table.exact -}}
{{- $route := index $routes $service | default (dict "business" list "exact" list) -}}
{{- $_ := set $route "exact" (append $route.exact $path) -}}
{{- $_ := set $routes $service $route -}}
{{- end -}}
{{- toYaml $routes -}}
{{- end -}}

{{/* The regular expression of a service's business paths, without anchors. (root, route) */}}
{{- define "slotmesh.businessRegex" -}}
{{- $slug := (.root.Files.Get "files/paths.yaml" | fromYaml).slug -}}
/api/public/{{ $slug }}/({{ join "|" .route.business }})
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
