{{/* The name that all objects of a release begin with. */}}
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

{{/* What selects the pods of one part; never changes in the life of a release. (root, name) */}}
{{- define "slotmesh.selector" -}}
app.kubernetes.io/name: slotmesh
app.kubernetes.io/instance: {{ .root.Release.Name }}
app.kubernetes.io/component: {{ .name }}
{{- end -}}

{{/*
Labels of a pod of another program, as the trial's stores are: none that changes with a release of Slotmesh, as that would restart it under
the services that are served by it. (root, name)
*/}}
{{- define "slotmesh.storeLabels" -}}
{{ include "slotmesh.selector" . }}
app.kubernetes.io/part-of: slotmesh
{{- end -}}

{{/*
Labels of a pod: none that changes with the chart alone, as that would restart it. A digest is no version, and no label
could hold it; a tag may be longer than a label. (root, name)
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
Labels of a Gateway. Istio copies them to the pods that it makes of it, which the default deny must not select.
(root, name)
*/}}
{{- define "slotmesh.gatewayLabels" -}}
{{- merge (dict "app.kubernetes.io/name" "slotmesh-gateway") (include "slotmesh.labels" . | fromYaml) | toYaml -}}
{{- end -}}

{{/* The settings of one component as YAML: the defaults, and what the component says on top. (root, name) */}}
{{- define "slotmesh.settings" -}}
{{- mergeOverwrite (deepCopy .root.Values.defaults) (deepCopy (index .root.Values.components .name | default dict)) | toYaml -}}
{{- end -}}

{{/* A value as text; a whole number without an exponent, which large ones would have as they have been YAML. (value) */}}
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
The image of a component: what was released with the chart, by the digest that was signed (files/digests.yaml, which k8s/images/release
writes), unless a tag or a repository is given. (root, name, settings)
*/}}
{{- define "slotmesh.image" -}}
{{- $repository := default (printf "%s%s" .root.Values.image.prefix .name) .settings.image.repository -}}
{{- $tag := include "slotmesh.tag" . -}}
{{- $given := or .root.Values.image.tag .settings.image.tag .settings.image.repository -}}
{{- $digest := index (.root.Files.Get "files/digests.yaml" | fromYaml) .name -}}
{{- if hasPrefix "sha256:" $tag -}}{{ $repository }}@{{ $tag }}
{{- else -}}{{ $repository }}:{{ $tag }}{{ if and $digest (not $given) }}@{{ $digest }}{{ end }}{{- end -}}
{{- end -}}

{{/* Restricted Pod Security, for a pod and for a container. */}}
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

{{/* Where a service's URL of PostgreSQL is kept, as YAML of name and key. (root, name) */}}
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

{{/* The Secret and key of the certificates by which PostgreSQL's is verified, as YAML; nothing where it is not. (root) */}}
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

{{/* The Secret with what the parts show each other. Its keys are NAME and NAME-callers of each part. */}}
{{- define "slotmesh.peersSecret" -}}
{{- default (printf "%s-peers" (include "slotmesh.fullname" .)) .Values.peers.existingSecret.name -}}
{{- end -}}

{{- define "slotmesh.adminSecret" -}}
{{- $existing := .Values.admin.existingSecret -}}
{name: {{ default (printf "%s-admin" (include "slotmesh.fullname" .)) $existing.name | quote }}, key: {{ ternary $existing.key "token" (ne $existing.name "") | quote }}}
{{- end -}}

{{/* The table of components as YAML, with the front where it is enabled: its pods are made, watched and let through as the others'. */}}
{{- define "slotmesh.parts" -}}
{{- $parts := .Files.Get "files/components.yaml" | fromYaml -}}
{{- if .Values.front.enabled -}}{{- $_ := set $parts "front" dict -}}{{- end -}}
{{- toYaml $parts -}}
{{- end -}}
