{{/* A pod that runs the slotmesh command against console. (root, args, config: a ConfigMap, mounted at /demo) */}}
{{- define "slotmesh.operatorPod" -}}
{{- $root := .root -}}
{{- $settings := include "slotmesh.settings" (dict "root" $root "name" "console") | fromYaml -}}
serviceAccountName: {{ include "slotmesh.fullname" $root }}-operator
automountServiceAccountToken: false
enableServiceLinks: false
restartPolicy: OnFailure
securityContext: {{- toYaml $settings.podSecurityContext | nindent 2 }}
{{- include "slotmesh.scheduling" $settings }}
{{- with $root.Values.image.pullSecrets }}
imagePullSecrets: {{- toYaml . | nindent 2 }}
{{- end }}
containers:
  - name: slotmesh
    image: {{ include "slotmesh.image" (dict "root" $root "name" "console" "settings" $settings) | quote }}
    imagePullPolicy: {{ $root.Values.image.pullPolicy }}
    securityContext: {{- toYaml $settings.securityContext | nindent 6 }}
    command: [/slotmesh]
    args: {{- toYaml .args | nindent 6 }}
    env:
      - {name: SLOTMESH_SERVER, value: "http://{{ include "slotmesh.fullname" $root }}-console:8080"}
      - {name: SLOTMESH_ADMIN_TOKEN, valueFrom: {secretKeyRef: {{ include "slotmesh.adminSecret" $root }}}}
    resources:
      requests: {cpu: 20m, memory: 32Mi}
      limits: {memory: 128Mi}
    {{- if .config }}
    volumeMounts:
      - {name: config, mountPath: /demo, readOnly: true}
    {{- end }}
{{- if .config }}
volumes:
  - {name: config, configMap: {name: {{ .config }}}}
{{- end }}
{{- end -}}

{{/* The namespaces whose objects the operator reconciles, as YAML. */}}
{{- define "slotmesh.operatorNamespaces" -}}
{{- default (list .Release.Namespace) .Values.operator.namespaces | uniq | toYaml -}}
{{- end -}}

{{/* The settings of the operator's pod as YAML: the defaults, with one pod. */}}
{{- define "slotmesh.operatorSettings" -}}
{{- $own := dict
  "replicas" 1
  "autoscaling" (dict "enabled" false)
  "resources" .Values.operator.resources
  "env" (dict
    "SLOTMESH_SERVER" (printf "http://%s-console:8080" (include "slotmesh.fullname" .))
    "OPERATOR_NAMESPACES" (include "slotmesh.operatorNamespaces" . | fromYamlArray | join ",")
    "OPERATOR_RESYNC" (printf "%ds" (int .Values.operator.resyncSeconds)))
  "secretEnv" (dict "SLOTMESH_ADMIN_TOKEN" (include "slotmesh.adminSecret" . | fromYaml)) -}}
{{- $settings := mergeOverwrite (deepCopy .Values.defaults) $own -}}
{{- $_ := set $settings "strategy" (dict "type" "Recreate") -}}
{{- $settings | toYaml -}}
{{- end -}}
