{{/* All objects of one service. (root, name) */}}
{{- define "slotmesh.component" -}}
{{- $root := .root -}}
{{- $settings := include "slotmesh.settings" . | fromYaml -}}
{{- $full := printf "%s-%s" (include "slotmesh.fullname" $root) .name -}}
{{- $part := dict "root" $root "name" .name "settings" $settings "full" $full -}}
apiVersion: v1
kind: ServiceAccount
metadata:
  name: {{ $full }}
  labels: {{- include "slotmesh.labels" $part | nindent 4 }}
  {{- with $settings.serviceAccountAnnotations }}
  annotations: {{- toYaml . | nindent 4 }}
  {{- end }}
automountServiceAccountToken: false
---
apiVersion: v1
kind: Service
metadata:
  name: {{ $full }}
  labels:
    {{- include "slotmesh.labels" $part | nindent 4 }}
    {{- if eq (include "slotmesh.waypoint" $root) "true" }}
    istio.io/use-waypoint: {{ include "slotmesh.fullname" $root }}-waypoint
    {{- end }}
  {{- with $settings.serviceAnnotations }}
  annotations: {{- toYaml . | nindent 4 }}
  {{- end }}
spec:
  selector: {{- include "slotmesh.selector" $part | nindent 4 }}
  ports:
    - {name: public, port: 8080, targetPort: public, appProtocol: http}
    - {name: internal, port: 9090, targetPort: internal, appProtocol: http}
---
{{ include "slotmesh.deployment" $part }}
{{- if $settings.pdb.enabled }}
---
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata:
  name: {{ $full }}
  labels: {{- include "slotmesh.labels" $part | nindent 4 }}
spec:
  selector:
    matchLabels: {{- include "slotmesh.selector" $part | nindent 6 }}
  maxUnavailable: {{ $settings.pdb.maxUnavailable }}
  unhealthyPodEvictionPolicy: AlwaysAllow
{{- end }}
{{- if $settings.autoscaling.enabled }}
---
{{ include "slotmesh.autoscaler" $part }}
{{- end }}
{{- end -}}

{{- define "slotmesh.deployment" -}}
apiVersion: apps/v1
kind: Deployment
metadata:
  name: {{ .full }}
  labels: {{- include "slotmesh.labels" . | nindent 4 }}
spec:
  {{- if not .settings.autoscaling.enabled }}
  replicas: {{ .settings.replicas }}
  {{- end }}
  revisionHistoryLimit: 5
  strategy: {{- toYaml .settings.strategy | nindent 4 }}
  selector:
    matchLabels: {{- include "slotmesh.selector" . | nindent 6 }}
  template:
    metadata:
      labels:
        {{- include "slotmesh.podLabels" . | nindent 8 }}
        {{- include "slotmesh.meshLabels" (dict "root" .root "in" true) | nindent 8 }}
        {{- with .settings.podLabels }}
        {{- toYaml . | nindent 8 }}
        {{- end }}
      {{- with mergeOverwrite (include "slotmesh.meshAnnotations" (dict "root" .root "in" true "metrics" true) | fromYaml) .settings.podAnnotations }}
      annotations: {{- toYaml . | nindent 8 }}
      {{- end }}
    spec: {{- include "slotmesh.pod" . | nindent 6 }}
{{- end -}}

{{- define "slotmesh.autoscaler" -}}
{{- $scale := .settings.autoscaling -}}
{{- if $scale.keda.enabled -}}
{{- include "slotmesh.scaledObject" . -}}
{{- else -}}
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata:
  name: {{ .full }}
  labels: {{- include "slotmesh.labels" . | nindent 4 }}
spec:
  scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: {{ .full }}}
  minReplicas: {{ $scale.minReplicas }}
  maxReplicas: {{ $scale.maxReplicas }}
  metrics:
    - type: Resource
      resource:
        name: cpu
        target: {type: Utilization, averageUtilization: {{ $scale.cpuPercent }}}
  behavior:
    scaleDown: {stabilizationWindowSeconds: 300}
{{- end -}}
{{- end -}}

{{/*
The object from which KEDA creates an autoscaler. By Little's law, the total duration of the requests in one second is
the number of requests in flight. KEDA divides this number by the target for each pod.
*/}}
{{- define "slotmesh.scaledObject" -}}
{{- $scale := .settings.autoscaling -}}
apiVersion: keda.sh/v1alpha1
kind: ScaledObject
metadata:
  name: {{ .full }}
  labels: {{- include "slotmesh.labels" . | nindent 4 }}
spec:
  scaleTargetRef: {name: {{ .full }}}
  minReplicaCount: {{ $scale.minReplicas }}
  maxReplicaCount: {{ $scale.maxReplicas }}
  advanced:
    horizontalPodAutoscalerConfig:
      behavior:
        scaleDown: {stabilizationWindowSeconds: 300}
  triggers:
    - type: cpu
      metricType: Utilization
      metadata: {value: {{ $scale.cpuPercent | quote }}}
    {{- if $scale.keda.prometheusURL }}
    - type: prometheus
      metadata:
        serverAddress: {{ $scale.keda.prometheusURL }}
        query: sum(rate(http_server_request_duration_seconds_sum{namespace="{{ .root.Release.Namespace }}", component="{{ .name }}", http_route!~"/livez|/readyz|/metrics"}[2m]))
        threshold: {{ $scale.keda.requestsInFlight | quote }}
    {{- end }}
    {{- with $scale.keda.triggers }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
{{- end -}}
