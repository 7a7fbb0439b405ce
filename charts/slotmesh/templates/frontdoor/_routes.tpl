{{/* The public paths by service, from files/components.yaml, as YAML: {service: {business: [last segments], exact:
     [paths], below: [prefixes]}}. */}}
{{- define "slotmesh.routes" -}}
{{- $routes := dict -}}
{{- range $service, $row := .Files.Get "files/components.yaml" | fromYaml -}}
{{- if or $row.business $row.exact $row.below -}}
{{- $_ := set $routes $service (dict "business" ($row.business | default list | sortAlpha) "exact" ($row.exact | default list | sortAlpha) "below" ($row.below | default list | sortAlpha)) -}}
{{- end -}}
{{- end -}}
{{- toYaml $routes -}}
{{- end -}}

{{/* The regular expression of a service's business paths, without anchors. A slug contains only characters that all
     programs decode in the same way. (route) */}}
{{- define "slotmesh.businessRegex" -}}
/api/public/[A-Za-z0-9_-]+/({{ join "|" .business }})
{{- end -}}

{{/* The regular expression of the paths below a service's prefixes, without anchors. (route) */}}
{{- define "slotmesh.belowRegex" -}}
/({{ range $i, $beginning := .below }}{{ if $i }}|{{ end }}{{ trimPrefix "/" $beginning }}{{ end }})/[A-Za-z0-9._~/-]+
{{- end -}}

{{/* Annotations of an Ingress: those for the controller, overridden by those of the values. (root, own: YAML) */}}
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

{{/* The class of an Ingress; empty for the controller `any` without a className: the cluster's default class. */}}
{{- define "slotmesh.ingressClass" -}}
{{- $ingress := .Values.frontDoor.ingress -}}
{{- with default (ternary "" $ingress.controller (eq $ingress.controller "any")) $ingress.className -}}
ingressClassName: {{ . }}
{{- end -}}
{{- end -}}

{{/* The backend of an Ingress path. (root, service) */}}
{{- define "slotmesh.backend" -}}
{service: {name: {{ include "slotmesh.fullname" .root }}-{{ .service }}, port: {name: public}}}
{{- end -}}

{{/* The HTTPS listeners of the Gateway, as YAML {listeners: [{name, host, secret, admin}]}. Each host has a listener,
     because cert-manager creates certificates for listeners with a hostname. The first listener is `https`; the admin
     API's listener is `https-admin`. */}}
{{- define "slotmesh.listeners" -}}
{{- $listeners := list -}}
{{- $door := .Values.frontDoor -}}
{{- if $door.tls.secretName -}}
{{- range $i, $host := $door.hosts -}}
{{- $name := ternary "https" (printf "https-%d" (add1 $i)) (eq $i 0) -}}
{{- $listeners = append $listeners (dict "name" $name "host" $host "secret" $door.tls.secretName "admin" false) -}}
{{- end -}}
{{- end -}}
{{- if $door.tls.adminSecretName -}}
{{- $listeners = append $listeners (dict "name" "https-admin" "host" $door.adminHost "secret" $door.tls.adminSecretName "admin" true) -}}
{{- end -}}
{{- dict "listeners" $listeners | toYaml -}}
{{- end -}}

{{/* The listeners of a route: those of the customers' hosts, or the listener of the admin API. An existing Gateway has
     one listener for all customers' hosts. (root, admin) */}}
{{- define "slotmesh.parents" -}}
{{- $full := include "slotmesh.fullname" .root -}}
{{- $parents := list -}}
{{- range (include "slotmesh.listeners" .root | fromYaml).listeners -}}
{{- if and (eq .admin $.admin) (or (not $parents) $.root.Values.frontDoor.gateway.className) -}}{{- $parents = append $parents (dict "name" $full "sectionName" .name) -}}{{- end -}}
{{- end -}}
{{- .root.Values.frontDoor.gateway.parentRefs | default $parents | default (list (dict "name" $full "sectionName" "http")) | toYaml -}}
{{- end -}}

{{- define "slotmesh.routeTimeouts" -}}
{{- if .Values.frontDoor.gateway.timeouts -}}
timeouts: {request: {{ .Values.frontDoor.timeoutSeconds }}s}
{{- end -}}
{{- end -}}
