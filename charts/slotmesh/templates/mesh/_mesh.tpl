{{/*
What puts a pod into the mesh, or keeps it out of it: the stores for trying out and the migrations stay out, as
PostgreSQL and Redis are outside the mesh in production too. (root, in: whether, metrics: whether it has any)
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
# The proxy serves the service's metrics together with its own, on a port that needs no identity.
prometheus.io/scrape: "true"
prometheus.io/port: "9090"
prometheus.io/path: /metrics
{{- else -}}
{}
{{- end -}}
{{- end -}}

{{/*
From where a service is called by the proxy in its own pod, whoever called that: Istio's sidecars send from an address of their own, and
pass X-Forwarded-For on as it came. Whom they let in is the policies' to say.
*/}}
{{- define "slotmesh.sidecarAddresses" -}}
{{- $mesh := .Values.mesh -}}
{{- if and (eq $mesh.provider "istio") (eq $mesh.istio.mode "sidecar") -}}
[127.0.0.6/32, "::6/128"]
{{- else -}}
[]
{{- end -}}
{{- end -}}

{{/* Whether Istio's ambient mode has a waypoint here, which is what knows HTTP there: "true" or "". */}}
{{- define "slotmesh.waypoint" -}}
{{- if and (eq .Values.mesh.provider "istio") (eq .Values.mesh.istio.mode "ambient") -}}true{{- end -}}
{{- end -}}

{{/* Istio's names of service accounts of this release. (root, names) */}}
{{- define "slotmesh.principals" -}}
{{- $root := .root -}}
{{- range .names }}
- {{ $root.Values.mesh.istio.trustDomain }}/ns/{{ $root.Release.Namespace }}/sa/{{ include "slotmesh.fullname" $root }}-{{ . }}
{{- end }}
{{- end -}}

{{/* Istio's names of service accounts of others. (root, accounts) */}}
{{- define "slotmesh.otherPrincipals" -}}
{{- $root := .root -}}
{{- range .accounts }}
- {{ $root.Values.mesh.istio.trustDomain }}/ns/{{ .namespace }}/sa/{{ .name }}
{{- end }}
{{- end -}}

{{/* Whether the named service's public port is asked by the release's own front: "true" or "". (root, name) */}}
{{- define "slotmesh.behind" -}}
{{- if and .root.Values.front.enabled (hasKey (include "slotmesh.routes" .root | fromYaml) .name) -}}true{{- end -}}
{{- end -}}

{{/* Whether the named service's public port is asked from outside the release: "true" or "". (root, name) */}}
{{- define "slotmesh.fronted" -}}
{{- if .root.Values.front.enabled -}}
{{- if or (eq .name "front") (and (eq .name "console") .root.Values.frontDoor.adminHost) -}}true{{- end -}}
{{- else if hasKey (include "slotmesh.routes" .root | fromYaml) .name -}}true
{{- else if and (eq .name "console") .root.Values.frontDoor.adminHost -}}true
{{- end -}}
{{- end -}}
