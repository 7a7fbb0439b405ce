{{/* Egress rule for the collector. */}}
{{- define "slotmesh.telemetryEgress" -}}
{{- $address := urlParse .Values.telemetry.otlpEndpoint -}}
- ports: [{port: {{ regexFind "[0-9]+$" (regexFind ":[0-9]+$" $address.host) | default (ternary "443" "80" (eq $address.scheme "https")) }}}]
  {{- with .Values.networkPolicy.telemetryTo }}
  to: {{- toYaml . | nindent 4 }}
  {{- end }}
{{- end -}}

{{- define "slotmesh.postgresEgress" -}}
{{- if ne .Values.postgres.provider "external" -}}
- ports: [{port: 5432}]
  to: {{- include "slotmesh.peers" (dict "root" . "names" (list "postgres")) | nindent 4 }}
{{- else -}}
- ports: [{port: {{ .Values.networkPolicy.postgresPort }}}]
  {{- with .Values.networkPolicy.postgresTo }}
  to: {{- toYaml . | nindent 4 }}
  {{- end }}
{{- end -}}
{{- end -}}

{{- define "slotmesh.redisEgress" -}}
{{- if eq .Values.redis.provider "trial" -}}
- ports: [{port: 6379}]
  to: {{- include "slotmesh.peers" (dict "root" . "names" (list "redis")) | nindent 4 }}
{{- else -}}
- ports: [{port: {{ .Values.networkPolicy.redisPort }}}]
  {{- with .Values.networkPolicy.redisTo }}
  to: {{- toYaml . | nindent 4 }}
  {{- end }}
{{- end -}}
{{- end -}}

{{/*
A NetworkPolicy for the mesh itself. Its proxies call their control plane, and use one port for all encrypted traffic
(Istio's ambient mode: 15008; Linkerd: 4143). Mesh policies control which calls are permitted there.
*/}}
{{- define "slotmesh.meshNetwork" -}}
{{- $mesh := .Values.mesh -}}
{{- if ne $mesh.provider "none" }}
---
apiVersion: networking.k8s.io/v1
kind: NetworkPolicy
metadata:
  name: {{ include "slotmesh.fullname" . }}-mesh
  labels: {{- include "slotmesh.labels" (dict "root" . "name" "network") | nindent 4 }}
spec:
  podSelector:
    matchLabels:
      app.kubernetes.io/name: slotmesh
      app.kubernetes.io/instance: {{ .Release.Name }}
  policyTypes: [Ingress, Egress]
  {{- if eq $mesh.provider "linkerd" }}
  ingress:
    - ports: [{port: 4143}]
    - ports: [{port: 4191}] # probes and metrics of the proxy
  egress:
    - ports: [{port: 4143}]
    - to: [{namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: {{ $mesh.linkerd.controlPlaneNamespace }}}}}]
  {{- else if eq $mesh.istio.mode "ambient" }}
  ingress:
    - ports: [{port: 15008}]
    - ports: [{port: internal}] # in ambient mode, probes of the kubelet come from this address
      from: [{ipBlock: {cidr: 169.254.7.127/32}}]
  egress:
    - ports: [{port: 15008}]
    - to: [{namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: {{ $mesh.istio.controlPlaneNamespace }}}}}]
  {{- else }}
  ingress:
    - ports: [{port: 15020}] # probes of the proxy, and metrics of the proxy and the service
    - ports: [{port: 15021}]
  egress:
    - to: [{namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: {{ $mesh.istio.controlPlaneNamespace }}}}}]
  {{- end }}
{{- end }}
{{- end -}}
