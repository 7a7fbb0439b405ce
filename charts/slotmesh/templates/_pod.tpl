{{/* The pod of a component. Its image has no shell, so the preStop hook uses the kubelet's sleep action. */}}
{{- define "slotmesh.pod" -}}
{{- $drain := .root.Values.drain -}}
{{- $probes := .root.Values.probes -}}
serviceAccountName: {{ .full }}
automountServiceAccountToken: false
enableServiceLinks: false
{{- with .root.Values.image.pullSecrets }}
imagePullSecrets: {{- toYaml . | nindent 2 }}
{{- end }}
securityContext: {{- toYaml .settings.podSecurityContext | nindent 2 }}
terminationGracePeriodSeconds: {{ add $drain.preStopSeconds $drain.delaySeconds (mul 2 $drain.timeoutSeconds) 5 }}
topologySpreadConstraints:
  {{- with .settings.topologySpreadConstraints }}
  {{- toYaml . | nindent 2 }}
  {{- else }}
  {{- range list "topology.kubernetes.io/zone" "kubernetes.io/hostname" }}
  - maxSkew: 1
    topologyKey: {{ . }}
    whenUnsatisfiable: ScheduleAnyway
    labelSelector:
      matchLabels: {{- include "slotmesh.selector" $ | nindent 8 }}
    matchLabelKeys: [pod-template-hash]
  {{- end }}
  {{- end }}
{{- include "slotmesh.scheduling" .settings }}
{{- with (include "slotmesh.volumes" . | fromYaml).volumes }}
volumes: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .settings.extraInitContainers }}
initContainers: {{- toYaml . | nindent 2 }}
{{- end }}
containers:
  - name: {{ .name }}
    image: {{ include "slotmesh.image" . | quote }}
    imagePullPolicy: {{ .root.Values.image.pullPolicy }}
    securityContext: {{- toYaml .settings.securityContext | nindent 6 }}
    ports:
      - {name: public, containerPort: 8080}
      - {name: internal, containerPort: 9090}
    env:
      - {name: PEER_SECRETS, valueFrom: {secretKeyRef: {name: {{ include "slotmesh.peersSecret" .root | quote }}, key: {{ .name }}}}} # migrations run before this Secret exists
      - {name: PEER_CALLERS, valueFrom: {secretKeyRef: {name: {{ include "slotmesh.peersSecret" .root | quote }}, key: {{ .name }}-callers}}}
      {{- if has .name (list "booking" "rental") }}
      - {name: LINK_SECRETS, valueFrom: {secretKeyRef: {{ include "slotmesh.linksSecret" .root }}}}
      {{- end }}
      {{- include "slotmesh.env" . | nindent 6 }}
    {{- with include "slotmesh.containerExtras" . | trim }}
    {{- . | nindent 4 }}
    {{- end }}
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
    {{- if .settings.lifecycle }}
    lifecycle: {{- toYaml .settings.lifecycle | nindent 6 }}
    {{- else if $drain.preStopSeconds }}
    lifecycle:
      preStop:
        sleep: {seconds: {{ $drain.preStopSeconds }}}
    {{- end }}
    resources: {{- toYaml .settings.resources | nindent 6 }}
  {{- with .settings.extraContainers }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
{{- end -}}

{{/* The nodes on which a pod may run, and its priority. (settings) */}}
{{- define "slotmesh.scheduling" -}}
{{- with .priorityClassName }}
priorityClassName: {{ . }}
{{- end }}
{{- with .nodeSelector }}
nodeSelector: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .tolerations }}
tolerations: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .affinity }}
affinity: {{- toYaml . | nindent 2 }}
{{- end }}
{{- end -}}

{{/* Additional environment and mounts of a service's container. (root, name, settings) */}}
{{- define "slotmesh.containerExtras" -}}
{{- with .settings.extraEnvFrom }}
envFrom: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with concat ((include "slotmesh.authorities" . | fromYaml).mounts | default list) .settings.extraVolumeMounts }}
volumeMounts: {{- toYaml . | nindent 2 }}
{{- end }}
{{- end -}}

{{/* The volumes of a service's pod, as YAML {volumes: […]}. (root, name, settings) */}}
{{- define "slotmesh.volumes" -}}
{{- dict "volumes" (concat ((include "slotmesh.authorities" . | fromYaml).volumes | default list) .settings.extraVolumes) | toYaml -}}
{{- end -}}

{{/* The certificates with which a service verifies its stores, as YAML {volumes: […], mounts: […]}. (root, name) */}}
{{- define "slotmesh.authorities" -}}
{{- $volumes := list -}}
{{- $mounts := list -}}
{{- range $store := (include "slotmesh.row" . | fromYaml).stores -}}
{{- with include (printf "slotmesh.%sCA" $store) $.root | fromYaml -}}
{{- $name := printf "%s-ca" $store -}}
{{- $volumes = append $volumes (dict "name" $name "secret" (dict "secretName" .name "items" (list (dict "key" .key "path" "ca.crt")))) -}}
{{- $mounts = append $mounts (dict "name" $name "mountPath" (printf "/etc/slotmesh/%s" $store) "readOnly" true) -}}
{{- end -}}
{{- end -}}
{{- dict "volumes" $volumes "mounts" $mounts | toYaml -}}
{{- end -}}

{{- define "slotmesh.redisCA" -}}
{{- with .Values.redis.caSecret -}}{{- if .name -}}
{name: {{ .name | quote }}, key: {{ .key | quote }}}
{{- end -}}{{- end -}}
{{- end -}}

{{/* The volumes of the migrations' pod, as YAML {volumes: […]}: the volumes of all migrated services, without
     duplicates. (root) */}}
{{- define "slotmesh.migrationVolumes" -}}
{{- $volumes := list -}}
{{- range $name, $edges := .Files.Get "files/components.yaml" | fromYaml -}}
{{- if $edges.tables -}}
{{- $part := dict "root" $ "name" $name "settings" (include "slotmesh.settings" (dict "root" $ "name" $name) | fromYaml) -}}
{{- $volumes = concat $volumes ((include "slotmesh.volumes" $part | fromYaml).volumes | default list) | uniq -}}
{{- end -}}
{{- end -}}
{{- dict "volumes" $volumes | toYaml -}}
{{- end -}}
