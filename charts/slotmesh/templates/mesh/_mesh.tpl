{{/*
Labels that put a pod into the mesh or keep it outside. The trial's stores and the migrations are outside, because
PostgreSQL and Redis are also outside the mesh in production. (root, in: whether the pod is inside, metrics: whether it
has metrics)
*/}}
{{- define "slotmesh.meshLabels" -}}
{{- $mesh := .root.Values.mesh -}}
{{- if eq $mesh.provider "istio" -}}
{{- if eq $mesh.istio.mode "ambient" -}}
istio.io/dataplane-mode: {{ ternary "ambient" "none" .in }}
{{- else -}}
sidecar.istio.io/inject: {{ .in | quote }}
{{- end -}}
{{- end -}}
{{- end -}}

{{- define "slotmesh.meshAnnotations" -}}
{{- $mesh := .root.Values.mesh -}}
{{- if eq $mesh.provider "linkerd" -}}
linkerd.io/inject: {{ ternary "enabled" "disabled" .in }}
{{- if .in }}
config.beta.linkerd.io/proxy-enable-native-sidecar: "true"
{{- end }}
{{- else if and (eq $mesh.provider "istio") (eq $mesh.istio.mode "sidecar") .in .metrics -}}
# The proxy serves the service's metrics and its own, on a port that needs no identity.
prometheus.io/scrape: "true"
prometheus.io/port: "9090"
prometheus.io/path: /metrics
{{- else -}}
{}
{{- end -}}
{{- end -}}

{{/*
Addresses from which the proxy in a pod calls the service in the same pod. Istio's sidecars use their own address for
all callers, and do not change X-Forwarded-For. The mesh policies decide which callers the sidecars accept.
*/}}
{{- define "slotmesh.sidecarAddresses" -}}
{{- $mesh := .Values.mesh -}}
{{- if and (eq $mesh.provider "istio") (eq $mesh.istio.mode "sidecar") -}}
[127.0.0.6/32, "::6/128"]
{{- else -}}
[]
{{- end -}}
{{- end -}}

{{/* "true" if the release has a waypoint, which processes HTTP in Istio's ambient mode; otherwise "". */}}
{{- define "slotmesh.waypoint" -}}
{{- if and (eq .Values.mesh.provider "istio") (eq .Values.mesh.istio.mode "ambient") -}}true{{- end -}}
{{- end -}}

{{/* Principals (Istio's names) of service accounts of this release. (root, names) */}}
{{- define "slotmesh.principals" -}}
{{- $root := .root -}}
{{- range .names }}
- {{ $root.Values.mesh.istio.trustDomain }}/ns/{{ $root.Release.Namespace }}/sa/{{ include "slotmesh.fullname" $root }}-{{ . }}
{{- end }}
{{- end -}}

{{/* Principals (Istio's names) of other service accounts. (root, accounts) */}}
{{- define "slotmesh.otherPrincipals" -}}
{{- $root := .root -}}
{{- range .accounts }}
- {{ $root.Values.mesh.istio.trustDomain }}/ns/{{ .namespace }}/sa/{{ .name }}
{{- end }}
{{- end -}}

{{/* "true" if the release's front calls the service's public port; otherwise "". (root, name) */}}
{{- define "slotmesh.behind" -}}
{{- if and .root.Values.front.enabled (hasKey (include "slotmesh.routes" .root | fromYaml) .name) -}}true{{- end -}}
{{- end -}}

{{/* "true" if clients outside the release call the service's public port; otherwise "". (root, name) */}}
{{- define "slotmesh.fronted" -}}
{{- if .root.Values.front.enabled -}}
{{- if or (eq .name "front") (and (eq .name "console") .root.Values.frontDoor.adminHost) -}}true{{- end -}}
{{- else if hasKey (include "slotmesh.routes" .root | fromYaml) .name -}}true
{{- else if and (eq .name "console") .root.Values.frontDoor.adminHost -}}true
{{- end -}}
{{- end -}}
