{{/* The environment of a component as a list. (root, name, settings) */}}
{{- define "slotmesh.env" -}}
{{- $root := .root -}}
{{- $edges := include "slotmesh.row" . | fromYaml -}}
- {name: LOG_LEVEL, value: {{ $root.Values.logLevel | quote }}}
{{- if eq .name "front" }}
- {name: REQUEST_TIMEOUT, value: "{{ add $root.Values.requestTimeoutSeconds 2 }}s"} # services time out first
- {name: UPSTREAMS, value: {{ include "slotmesh.upstreams" $root | quote }}}
{{- else }}
- {name: REQUEST_TIMEOUT, value: "{{ $root.Values.requestTimeoutSeconds }}s"}
{{- end }}
- {name: DRAIN_DELAY, value: "{{ $root.Values.drain.delaySeconds }}s"}
- {name: DRAIN_TIMEOUT, value: "{{ $root.Values.drain.timeoutSeconds }}s"}
{{- with include "slotmesh.goMemoryLimit" . }}
- {name: GOMEMLIMIT, value: {{ . | quote }}}
{{- end }}
{{- /* Only these services have public paths. */}}
{{- if or $edges.business $edges.exact $edges.below (has .name (list "console" "front")) }}
- {name: PUBLIC_LIMIT_PER_MINUTE, value: {{ $root.Values.limits.publicPerMinute | int | quote }}}
- {name: WEBHOOK_LIMIT_PER_MINUTE, value: {{ $root.Values.limits.webhookPerMinute | int | quote }}}
- {name: ADMIN_WRONG_TOKENS_PER_MINUTE, value: {{ $root.Values.limits.wrongTokensPerMinute | int | quote }}}
{{- end }}
{{- /* Services behind the front trust its addresses, because the front authenticates with its secret. */}}
{{- if not (include "slotmesh.behind" .) }}
{{- with $root.Values.frontDoor.trustedProxies }}
- {name: TRUSTED_PROXIES, value: {{ concat . (include "slotmesh.sidecarAddresses" $root | fromYamlArray) | join "," | quote }}}
{{- end }}
{{- end }}
{{- with $root.Values.telemetry.otlpEndpoint }}
- {name: OTEL_EXPORTER_OTLP_ENDPOINT, value: {{ . | quote }}}
- {name: OTEL_TRACES_SAMPLER, value: parentbased_traceidratio}
- {name: OTEL_TRACES_SAMPLER_ARG, value: {{ include "slotmesh.text" $root.Values.telemetry.traceRatio | quote }}}
- {name: POD_NAME, valueFrom: {fieldRef: {fieldPath: metadata.name}}}
- {name: NODE_NAME, valueFrom: {fieldRef: {fieldPath: spec.nodeName}}}
- {name: OTEL_RESOURCE_ATTRIBUTES, value: "service.version={{ include "slotmesh.tag" $ }},k8s.namespace.name={{ $root.Release.Namespace }},k8s.pod.name=$(POD_NAME),k8s.node.name=$(NODE_NAME)"}
{{- end }}
{{- range $edges.calls }}
- {name: {{ upper . }}_URL, value: "http://{{ include "slotmesh.fullname" $root }}-{{ . }}:9090"}
{{- end }}
{{- range $edges.stores }}
{{ include (printf "slotmesh.%sEnv" .) $ }}
{{- end }}
{{- if eq .name "notifications" }}
- {name: MESSAGES_PER_DAY, value: {{ $root.Values.limits.messagesPerDay | int | quote }}}
{{- with include "slotmesh.messagesPerDayOf" $root }}
- {name: MESSAGES_PER_DAY_OF, value: {{ . | quote }}}
{{- end }}
- {name: MESSAGES_UNDO, value: "{{ $root.Values.messages.undoSeconds | int }}s"}
{{- with $root.Values.webhooks.allow }}
- {name: WEBHOOK_ALLOW, value: {{ join "," . | quote }}}
{{- end }}
{{- end }}
{{- if eq .name "catalog" }}
- {name: MEDIA_MAX_PICTURES, value: {{ $root.Values.media.maxPictures | int | quote }}}
- {name: MEDIA_MAX_BYTES, value: {{ $root.Values.media.maxBytes | int64 | quote }}}
{{- with $root.Values.media.existingSecret }}
{{- if .name }}
- {name: MEDIA_STORE, valueFrom: {secretKeyRef: {name: {{ .name | quote }}, key: {{ .key | quote }}}}}
{{- end }}
{{- end }}
{{- end }}
{{- if eq .name "console" }}
- {name: ADMIN_LIMIT_PER_MINUTE, value: {{ $root.Values.limits.adminPerMinute | int | quote }}}
- {name: INVITATIONS_PER_HOUR, value: {{ $root.Values.limits.invitationsPerHour | int | quote }}}
- {name: SLOTMESH_ADMIN_TOKEN, valueFrom: {secretKeyRef: {{ include "slotmesh.adminSecret" $root }}}}
- {name: SLOTMESH_SERVER, value: "http://127.0.0.1:8080"} # for the slotmesh command in this image
{{- end }}
{{- if and (has .name (list "console" "notifications" "pages")) $root.Values.frontDoor.adminHost (not (hasKey .settings.env "OWNER_URL")) }}
- {name: OWNER_URL, value: "{{ ternary "https" "http" (ne $root.Values.frontDoor.tls.adminSecretName "") }}://{{ $root.Values.frontDoor.adminHost }}"}
{{- end }}
{{- if and (has .name (list "booking" "catalog" "console" "pages" "rental")) (not (hasKey .settings.env "PAGES_URL")) }}
- {name: PAGES_URL, value: {{ include "slotmesh.pagesURL" $root | quote }}}
{{- end }}
{{- if and (eq .name "pages") $root.Values.demo.enabled (not (hasKey .settings.env "DEMO_SLUG")) }}
- {name: DEMO_SLUG, value: harbor-studio}
{{- end }}
{{- range $name, $value := .settings.env }}
- {name: {{ $name }}, value: {{ include "slotmesh.text" $value | quote }}}
{{- end }}
{{- range $name, $from := .settings.secretEnv }}
- {name: {{ $name }}, valueFrom: {secretKeyRef: {name: {{ $from.name | quote }}, key: {{ $from.key | quote }}}}}
{{- end }}
{{- end -}}

{{/* Nine tenths of a component's memory limit, in bytes, so that the garbage collector runs more often before the
     kernel kills the process. Empty without a limit, or if components.<name>.env sets GOMEMLIMIT. (name, settings) */}}
{{- define "slotmesh.goMemoryLimit" -}}
{{- $limit := include "slotmesh.text" (dig "limits" "memory" "" .settings.resources) -}}
{{- if and (not (hasKey .settings.env "GOMEMLIMIT")) (regexMatch "^[0-9]+([.][0-9]+)?([KMGT]i|[kMGT])?$" $limit) -}}
{{- $unit := regexFind "[A-Za-z]*$" $limit -}}
{{- $bytes := get (dict "_" 1 "k_" 1e3 "M_" 1e6 "G_" 1e9 "T_" 1e12 "Ki_" 1024 "Mi_" 1048576 "Gi_" 1073741824 "Ti_" 1099511627776) (print $unit "_") -}}
{{- mulf (trimSuffix $unit $limit | float64) $bytes 0.9 | floor | int64 -}}
{{- end -}}
{{- end -}}

{{/* Message limits of single businesses, as ID:NUMBER. (root) */}}
{{- define "slotmesh.messagesPerDayOf" -}}
{{- $pairs := list -}}
{{- range $id, $number := .Values.limits.messagesPerDayOf -}}
{{- $pairs = append $pairs (printf "%s:%d" $id (int $number)) -}}
{{- end -}}
{{- join "," $pairs -}}
{{- end -}}

{{/* Addresses of the public ports, for the front. (root) */}}
{{- define "slotmesh.upstreams" -}}
{{- $found := list -}}
{{- range $name := keys (include "slotmesh.routes" . | fromYaml) | sortAlpha -}}
{{- $found = append $found (printf "%s=%s-%s:8080" $name (include "slotmesh.fullname" $) $name) -}}
{{- end -}}
{{- join "," $found -}}
{{- end -}}

{{/* The public base URL of the pages, with which customers' links begin. (root) */}}
{{- define "slotmesh.pagesURL" -}}
{{- $door := .Values.frontDoor -}}
{{- default (printf "%s://%s" (ternary "https" "http" (ne $door.tls.secretName "")) (first $door.hosts)) $door.pagesURL -}}
{{- end -}}

{{/* Settings of the connection to PostgreSQL, and of its verification. (root, name) */}}
{{- define "slotmesh.postgresEnv" -}}
{{- $pg := .root.Values.postgres -}}
- {name: DATABASE_URL, valueFrom: {secretKeyRef: {{ include "slotmesh.postgresSecret" . }}}}
- {name: DATABASE_MAX_CONNS, value: {{ (include "slotmesh.connections" .root | fromYaml).each | quote }}}
{{- if $pg.pooled }}
- {name: DATABASE_POOLED, value: "true"}
{{- end }}
{{- if include "slotmesh.postgresCA" .root }}
- {name: PGSSLMODE, value: verify-full} # unless the URL sets another mode
- {name: PGSSLROOTCERT, value: /etc/slotmesh/postgres/ca.crt}
{{- end }}
{{- end -}}

{{- define "slotmesh.redisEnv" -}}
{{- $redis := .root.Values.redis -}}
{{- if eq $redis.provider "trial" -}}
- {name: REDIS_URL, value: "redis://{{ include "slotmesh.fullname" .root }}-redis:6379/0"}
{{- else if $redis.url -}}
- {name: REDIS_URL, value: {{ $redis.url | quote }}}
{{- else -}}
- {name: REDIS_URL, valueFrom: {secretKeyRef: {name: {{ $redis.existingSecret.name | quote }}, key: {{ $redis.existingSecret.key | quote }}}}}
{{- end -}}
{{- if $redis.cluster }}
- {name: REDIS_CLUSTER, value: "true"}
{{- end }}
{{- with $redis.sentinel.master }}
- {name: REDIS_SENTINEL_MASTER, value: {{ . | quote }}}
{{- end }}
{{- with $redis.sentinel.existingSecret }}
{{- if .name }}
- {name: REDIS_SENTINEL_PASSWORD, valueFrom: {secretKeyRef: {name: {{ .name | quote }}, key: {{ .key | quote }}}}}
{{- end }}
{{- end }}
{{- if $redis.caSecret.name }}
- {name: REDIS_CA_FILE, value: /etc/slotmesh/redis/ca.crt}
{{- end }}
{{- end -}}
