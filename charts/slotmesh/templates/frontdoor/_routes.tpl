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

{{/* Of any controller without a name: the cluster's default class. */}}
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

{{/* The HTTPS listeners of the Gateway, as YAML {listeners: [{name, host, secret, admin}]}: one for each host, as a listener with a
     hostname is what a certificate is made for. The first is `https`, the admin API's `https-admin`. */}}
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

{{/* The listeners that a route belongs to: those of the customers' hosts, or the admin API's. A Gateway that is there already has one for
     all customers' hosts. (root, admin) */}}
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
