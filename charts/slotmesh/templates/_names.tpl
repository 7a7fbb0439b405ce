{{/* The prefix of the names of all objects of a release. */}}
{{- define "slotmesh.fullname" -}}
{{- $name := default .Chart.Name .Values.nameOverride -}}
{{- if .Values.fullnameOverride -}}
{{- .Values.fullnameOverride | trunc 40 | trimSuffix "-" -}}
{{- else if contains $name .Release.Name -}}
{{- .Release.Name | trunc 40 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-%s" .Release.Name $name | trunc 40 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}

{{/* Labels that select the pods of one component. They must never change while a release exists. (root, name) */}}
{{- define "slotmesh.selector" -}}
app.kubernetes.io/name: slotmesh
app.kubernetes.io/instance: {{ .root.Release.Name }}
app.kubernetes.io/component: {{ .name }}
{{- end -}}

{{/*
Labels of a pod of another program, such as the trial's stores. No label may change with a version of Slotmesh, because
the change would restart the pod while services use it. (root, name)
*/}}
{{- define "slotmesh.storeLabels" -}}
{{ include "slotmesh.selector" . }}
app.kubernetes.io/part-of: slotmesh
{{- end -}}

{{/*
Labels of a pod. No label may change with only the chart, because the change would restart the pod. A digest is not a
version and is too long for a label; a tag may be too long. (root, name)
*/}}
{{- define "slotmesh.podLabels" -}}
{{ include "slotmesh.storeLabels" . }}
{{- $tag := default .root.Chart.AppVersion .root.Values.image.tag }}
{{- if not (hasPrefix "sha256:" $tag) }}
app.kubernetes.io/version: {{ $tag | trunc 63 | trimAll "-_." | quote }}
{{- end }}
{{- end -}}

{{/* Labels of every object. (root, name) */}}
{{- define "slotmesh.labels" -}}
{{ include "slotmesh.podLabels" . }}
app.kubernetes.io/managed-by: {{ .root.Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .root.Chart.Name .root.Chart.Version | replace "+" "_" }}
{{- end -}}

{{/*
Labels of a Gateway. Istio copies them to the pods that it creates for the Gateway. The default-deny policy must not
select these pods. (root, name)
*/}}
{{- define "slotmesh.gatewayLabels" -}}
{{- merge (dict "app.kubernetes.io/name" "slotmesh-gateway") (include "slotmesh.labels" . | fromYaml) | toYaml -}}
{{- end -}}

{{/* The settings of one component as YAML: the defaults, overridden by the component's values. (root, name) */}}
{{- define "slotmesh.settings" -}}
{{- mergeOverwrite (deepCopy .root.Values.defaults) (deepCopy (index .root.Values.components .name | default dict)) | toYaml -}}
{{- end -}}

{{/* A value as text. Large whole numbers of YAML would otherwise get an exponent. (value) */}}
{{- define "slotmesh.text" -}}
{{- if and (kindIs "float64" .) (eq . (floor .)) -}}{{ int64 . }}{{- else -}}{{ . }}{{- end -}}
{{- end -}}

{{/* One row of the table of components as YAML. (root, name) */}}
{{- define "slotmesh.row" -}}
{{- index (.root.Files.Get "files/components.yaml" | fromYaml) .name | toYaml -}}
{{- end -}}

{{/* The tag or digest of a component's image. (root, settings) */}}
{{- define "slotmesh.tag" -}}
{{- default (default .root.Chart.AppVersion .root.Values.image.tag) .settings.image.tag -}}
{{- end -}}

{{/*
The image of a component. A released chart uses the signed digests in files/digests.yaml, which k8s/images/release
writes, unless the values set a tag or a repository. (root, name, settings)
*/}}
{{- define "slotmesh.image" -}}
{{- $repository := default (printf "%s%s" .root.Values.image.prefix .name) .settings.image.repository -}}
{{- $tag := include "slotmesh.tag" . -}}
{{- $given := or .root.Values.image.tag .settings.image.tag .settings.image.repository -}}
{{- $digest := index (.root.Files.Get "files/digests.yaml" | fromYaml) .name -}}
{{- if hasPrefix "sha256:" $tag -}}{{ $repository }}@{{ $tag }}
{{- else -}}{{ $repository }}:{{ $tag }}{{ if and $digest (not $given) }}@{{ $digest }}{{ end }}{{- end -}}
{{- end -}}

{{/* Security contexts for restricted Pod Security, of a pod and of a container. */}}
{{- define "slotmesh.podSecurity" -}}
runAsNonRoot: true
runAsUser: {{ . }}
runAsGroup: {{ . }}
fsGroup: {{ . }}
fsGroupChangePolicy: OnRootMismatch
seccompProfile: {type: RuntimeDefault}
{{- end -}}

{{- define "slotmesh.containerSecurity" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: {{ . }}
capabilities: {drop: [ALL]}
{{- end -}}

{{/* The Secret with a service's URL of PostgreSQL, as YAML {name, key}. (root, name) */}}
{{- define "slotmesh.postgresSecret" -}}
{{- $p := .root.Values.postgres -}}
{{- if eq $p.provider "external" -}}
{name: {{ $p.existingSecret.name | quote }}, key: {{ ternary .name $p.existingSecret.key $p.userPerService | quote }}}
{{- else if eq $p.provider "cloudnativepg" -}}
{name: {{ include "slotmesh.fullname" .root }}-postgres-app, key: uri}
{{- else -}}
{name: {{ include "slotmesh.fullname" .root }}-postgres, key: url}
{{- end -}}
{{- end -}}

{{/* The Secret with the certificates that verify PostgreSQL, as YAML {name, key}; or nothing. (root) */}}
{{- define "slotmesh.postgresCA" -}}
{{- $p := .Values.postgres -}}
{{- if $p.caSecret.name -}}
{name: {{ $p.caSecret.name | quote }}, key: {{ $p.caSecret.key | quote }}}
{{- else if eq $p.provider "cloudnativepg" -}}
{name: {{ include "slotmesh.fullname" . }}-postgres-ca, key: ca.crt}
{{- end -}}
{{- end -}}

{{- define "slotmesh.linksSecret" -}}
{{- $existing := .Values.links.existingSecret -}}
{name: {{ default (printf "%s-links" (include "slotmesh.fullname" .)) $existing.name | quote }}, key: {{ ternary $existing.key "secrets" (ne $existing.name "") | quote }}}
{{- end -}}

{{/* The Secret with which components authenticate to each other. Its keys are NAME and NAME-callers. */}}
{{- define "slotmesh.peersSecret" -}}
{{- default (printf "%s-peers" (include "slotmesh.fullname" .)) .Values.peers.existingSecret.name -}}
{{- end -}}

{{- define "slotmesh.adminSecret" -}}
{{- $existing := .Values.admin.existingSecret -}}
{name: {{ default (printf "%s-admin" (include "slotmesh.fullname" .)) $existing.name | quote }}, key: {{ ternary $existing.key "token" (ne $existing.name "") | quote }}}
{{- end -}}

{{/* The table of components as YAML. It includes the front if it is enabled: the front gets the same objects as the
     services. */}}
{{- define "slotmesh.parts" -}}
{{- $parts := .Files.Get "files/components.yaml" | fromYaml -}}
{{- if .Values.front.enabled -}}{{- $_ := set $parts "front" dict -}}{{- end -}}
{{- toYaml $parts -}}
{{- end -}}
