{{/* A pod that runs the slotmesh command against the console. (root, args, config: name of a ConfigMap, at /demo) */}}
{{- define "slotmesh.operatorPod" -}}
{{- $root := .root -}}
{{- $settings := include "slotmesh.settings" (dict "root" $root "name" "console") | fromYaml -}}
serviceAccountName: {{ include "slotmesh.fullname" $root }}-operator
automountServiceAccountToken: false
enableServiceLinks: false
restartPolicy: OnFailure
securityContext: {{- include "slotmesh.podSecurity" 65532 | nindent 2 }}
{{- with $root.Values.image.pullSecrets }}
imagePullSecrets: {{- toYaml . | nindent 2 }}
{{- end }}
containers:
  - name: slotmesh
    image: {{ include "slotmesh.image" (dict "root" $root "name" "console" "settings" $settings) | quote }}
    imagePullPolicy: {{ $root.Values.image.pullPolicy }}
    securityContext: {{- include "slotmesh.containerSecurity" true | nindent 6 }}
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
