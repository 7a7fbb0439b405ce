{{/* Policies of the internal port: services may call /internal, all clients the probes, and collectors the metrics.
     (root, name, full) */}}
{{- define "slotmesh.linkerdInternal" }}
{{- $mesh := .root.Values.mesh }}
{{- $callers := (include "slotmesh.callers" . | fromYaml).callers }}
---
apiVersion: policy.linkerd.io/v1beta3
kind: Server
metadata:
  name: {{ .full }}-internal
  labels: {{- include "slotmesh.labels" . | nindent 4 }}
spec:
  podSelector:
    matchLabels: {{- include "slotmesh.selector" . | nindent 6 }}
  port: internal
  proxyProtocol: HTTP/1
{{- include "slotmesh.linkerdRoute" (dict "part" . "route" "probes" "paths" (list "/livez" "/readyz") "type" "Exact" "kind" "NetworkAuthentication" "who" "anyone") }}
{{- if $mesh.metricsAccounts }}
{{- include "slotmesh.linkerdRoute" (dict "part" . "route" "metrics" "paths" (list "/metrics") "type" "Exact" "kind" "MeshTLSAuthentication" "who" "metrics") }}
{{- end }}
{{- if $callers }}
---
apiVersion: policy.linkerd.io/v1alpha1
kind: MeshTLSAuthentication
metadata:
  name: {{ .full }}-callers
  labels: {{- include "slotmesh.labels" . | nindent 4 }}
spec:
  identityRefs:
    {{- range $callers }}
    - {kind: ServiceAccount, name: {{ include "slotmesh.fullname" $.root }}-{{ . }}}
    {{- end }}
{{- include "slotmesh.linkerdRoute" (dict "part" . "route" "peers" "paths" (list "/internal") "type" "PathPrefix" "kind" "MeshTLSAuthentication" "who" (printf "%s-callers" .name)) }}
{{- end }}
{{- end -}}

{{/* A route of the internal port, and its permitted callers. (part, route, paths, type, kind, who) */}}
{{- define "slotmesh.linkerdRoute" }}
{{- $name := printf "%s-%s" .part.full .route }}
---
apiVersion: policy.linkerd.io/v1beta3
kind: HTTPRoute
metadata:
  name: {{ $name }}
  labels: {{- include "slotmesh.labels" .part | nindent 4 }}
spec:
  parentRefs: [{group: policy.linkerd.io, kind: Server, name: {{ .part.full }}-internal}]
  rules:
    - matches:
        {{- range .paths }}
        - path: {type: {{ $.type }}, value: {{ . }}}
        {{- end }}
---
apiVersion: policy.linkerd.io/v1alpha1
kind: AuthorizationPolicy
metadata:
  name: {{ $name }}
  labels: {{- include "slotmesh.labels" .part | nindent 4 }}
spec:
  targetRef: {group: policy.linkerd.io, kind: HTTPRoute, name: {{ $name }}}
  requiredAuthenticationRefs:
    - {group: policy.linkerd.io, kind: {{ .kind }}, name: {{ include "slotmesh.fullname" .part.root }}-{{ .who }}}
{{- end -}}

{{/* Policies of the public port. The front door may call a public service, or all clients if the front door is outside
     the mesh. Only the release's Jobs may call other services. */}}
{{- define "slotmesh.linkerdPublic" }}
{{- $fronted := eq (include "slotmesh.fronted" .) "true" }}
{{- $who := "operator" }}
{{- $kind := "MeshTLSAuthentication" }}
{{- if include "slotmesh.behind" . }}
{{- $who = "own-front" }}
{{- else if $fronted }}
{{- $who = ternary "anyone" "front" .root.Values.mesh.frontOutside }}
{{- $kind = ternary "NetworkAuthentication" "MeshTLSAuthentication" .root.Values.mesh.frontOutside }}
{{- end }}
---
apiVersion: policy.linkerd.io/v1beta3
kind: Server
metadata:
  name: {{ .full }}-public
  labels: {{- include "slotmesh.labels" . | nindent 4 }}
spec:
  podSelector:
    matchLabels: {{- include "slotmesh.selector" . | nindent 6 }}
  port: public
  proxyProtocol: HTTP/1
---
apiVersion: policy.linkerd.io/v1alpha1
kind: AuthorizationPolicy
metadata:
  name: {{ .full }}-public
  labels: {{- include "slotmesh.labels" . | nindent 4 }}
spec:
  targetRef: {group: policy.linkerd.io, kind: Server, name: {{ .full }}-public}
  requiredAuthenticationRefs:
    - {group: policy.linkerd.io, kind: {{ $kind }}, name: {{ include "slotmesh.fullname" .root }}-{{ $who }}}
{{- end -}}
