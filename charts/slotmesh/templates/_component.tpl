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
  strategy: # a new pod is ready before an old one goes
    rollingUpdate: {maxUnavailable: 0, maxSurge: 1}
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

{{/* The pod of a component; its image has no shell, so the hook before the stop is the kubelet's own sleep. */}}
{{- define "slotmesh.pod" -}}
{{- $drain := .root.Values.drain -}}
{{- $probes := .root.Values.probes -}}
serviceAccountName: {{ .full }}
automountServiceAccountToken: false
enableServiceLinks: false
{{- with .root.Values.image.pullSecrets }}
imagePullSecrets: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .settings.priorityClassName }}
priorityClassName: {{ . }}
{{- end }}
securityContext: {{- include "slotmesh.podSecurity" 65532 | nindent 2 }}
terminationGracePeriodSeconds: {{ add $drain.preStopSeconds $drain.delaySeconds (mul 2 $drain.timeoutSeconds) 5 }}
topologySpreadConstraints:
  {{- range list "topology.kubernetes.io/zone" "kubernetes.io/hostname" }}
  - maxSkew: 1
    topologyKey: {{ . }}
    whenUnsatisfiable: ScheduleAnyway
    labelSelector:
      matchLabels: {{- include "slotmesh.selector" $ | nindent 8 }}
    matchLabelKeys: [pod-template-hash]
  {{- end }}
{{- with .settings.nodeSelector }}
nodeSelector: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .settings.tolerations }}
tolerations: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .settings.affinity }}
affinity: {{- toYaml . | nindent 2 }}
{{- end }}
containers:
  - name: {{ .name }}
    image: {{ include "slotmesh.image" . | quote }}
    imagePullPolicy: {{ .root.Values.image.pullPolicy }}
    securityContext: {{- include "slotmesh.containerSecurity" .settings.readOnlyRootFilesystem | nindent 6 }}
    ports:
      - {name: public, containerPort: 8080}
      - {name: internal, containerPort: 9090}
    env:
      - {name: PEER_SECRETS, valueFrom: {secretKeyRef: {{ include "slotmesh.peersSecret" .root }}}} # migrations run before it is made
      {{- if has .name (list "booking" "rental") }}
      - {name: LINK_SECRETS, valueFrom: {secretKeyRef: {{ include "slotmesh.linksSecret" .root }}}}
      {{- end }}
      {{- include "slotmesh.env" . | nindent 6 }}
    startupProbe:
      httpGet: {path: /livez, port: internal}
      periodSeconds: 1
      failureThreshold: {{ $probes.startupSeconds }}
    readinessProbe:
      httpGet: {path: /readyz, port: internal}
      periodSeconds: {{ $probes.readinessPeriodSeconds }}
      timeoutSeconds: 3
      failureThreshold: 2
    livenessProbe:
      httpGet: {path: /livez, port: internal}
      periodSeconds: {{ $probes.livenessPeriodSeconds }}
      timeoutSeconds: 5
      failureThreshold: 3
    {{- if $drain.preStopSeconds }}
    lifecycle:
      preStop:
        sleep: {seconds: {{ $drain.preStopSeconds }}}
    {{- end }}
    resources: {{- toYaml .settings.resources | nindent 6 }}
{{- end -}}

{{- define "slotmesh.autoscaler" -}}
{{- $scale := .settings.autoscaling -}}
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
