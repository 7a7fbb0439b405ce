{{/*
Checks for values that are valid alone but contradict each other. Every sentence names the problem and the correct
value. The chart refuses the release with all sentences at once.
*/}}
{{- define "slotmesh.contradictions" -}}
{{- $faults := list -}}
{{- $pg := .Values.postgres -}}
{{- if and (eq $pg.provider "external") (not $pg.existingSecret.name) -}}
{{- $faults = append $faults "postgres.existingSecret.name: name the Secret that holds the database's URL, as postgres.provider is external." -}}
{{- end -}}
{{- if and (ne $pg.provider "external") $pg.existingSecret.name -}}
{{- $faults = append $faults (printf "postgres.existingSecret.name: leave it empty, or set postgres.provider to external: %s makes a Secret of its own." $pg.provider) -}}
{{- end -}}
{{- if and (ne $pg.provider "external") (or $pg.userPerService $pg.pooled $pg.migrationsSecret.name $pg.caSecret.name) -}}
{{- $faults = append $faults (printf "postgres: leave userPerService, pooled, migrationsSecret and caSecret out, or set postgres.provider to external: %s sees to all of that itself." $pg.provider) -}}
{{- end -}}
{{- if and $pg.pooled (not $pg.userPerService) -}}
{{- $faults = append $faults "postgres.userPerService: set it, as postgres.pooled is: such a pooler keeps no settings of a session, so that each service needs a user that has them." -}}
{{- end -}}
{{- if and $pg.userPerService (not $pg.migrationsSecret.name) -}}
{{- $faults = append $faults "postgres.migrationsSecret.name: name the Secret with the URL of the user that owns the tables, past any pooler, as the services' own users (postgres.userPerService) own none." -}}
{{- end -}}
{{- $pools := include "slotmesh.connections" . | fromYaml -}}
{{- if lt (int $pools.each) (int $pools.least) -}}
{{- $faults = append $faults (printf "postgres.maxConnections: write %v or more if the database takes them, or fewer pods: of %v connections, %v are kept for migrations and operators, and %v pods of %s, old and new ones of a rollout, need %v each." $pools.wanted .Values.postgres.maxConnections $pools.kept $pools.pods (join ", " $pools.services) $pools.least) -}}
{{- end -}}
{{- if hasKey $pg.cloudnativepg.parameters "max_connections" -}}
{{- $faults = append $faults "postgres.cloudnativepg.parameters.max_connections: leave it out and write it as postgres.maxConnections, of which the services' pools are made." -}}
{{- end -}}
{{- if and (eq $pg.provider "cloudnativepg") (ge (int $pg.cloudnativepg.synchronousReplicas) (int $pg.cloudnativepg.instances)) -}}
{{- $faults = append $faults (printf "postgres.cloudnativepg.synchronousReplicas: write fewer than the instances (%v), of which one is the primary; nothing could be written otherwise." $pg.cloudnativepg.instances) -}}
{{- end -}}
{{- $redis := .Values.redis -}}
{{- if and (eq $redis.provider "external") (not (or $redis.url $redis.existingSecret.name)) -}}
{{- $faults = append $faults "redis: give redis.url, or redis.existingSecret.name where the URL holds a password, as redis.provider is external." -}}
{{- end -}}
{{- if and $redis.url $redis.existingSecret.name -}}
{{- $faults = append $faults "redis: give redis.url or redis.existingSecret.name, not both." -}}
{{- end -}}
{{- if and (eq $redis.provider "trial") (or $redis.url $redis.existingSecret.name) -}}
{{- $faults = append $faults "redis: set redis.provider to external to use redis.url or redis.existingSecret.name; trial brings a Redis of its own." -}}
{{- end -}}
{{- if regexMatch "://[^/?@]*:[^/?]*@" $redis.url -}}
{{- $faults = append $faults "redis.url: put a URL with a password into a Secret and name it in redis.existingSecret; here, every user with permission to read the release or a pod sees it." -}}
{{- end -}}
{{- if and (eq $redis.provider "trial") (or $redis.cluster $redis.sentinel.master $redis.caSecret.name) -}}
{{- $faults = append $faults "redis: set redis.provider to external to use redis.cluster, redis.sentinel or redis.caSecret; trial brings one plain Redis of its own." -}}
{{- end -}}
{{- if and $redis.cluster $redis.sentinel.master -}}
{{- $faults = append $faults "redis: give redis.cluster or redis.sentinel.master, not both: a cluster has no Sentinels." -}}
{{- end -}}
{{- if and $redis.caSecret.name $redis.url (not (hasPrefix "rediss://" $redis.url)) -}}
{{- $faults = append $faults "redis.url: write rediss://, as redis.caSecret is given: without TLS there is no certificate to verify." -}}
{{- end -}}
{{- if gt (int .Values.requestTimeoutSeconds) (int .Values.drain.timeoutSeconds) -}}
{{- $faults = append $faults (printf "drain.timeoutSeconds: write requestTimeoutSeconds (%v) or more: a pod that stops cuts off what takes longer." .Values.requestTimeoutSeconds) -}}
{{- end -}}
{{- $door := .Values.frontDoor -}}
{{- if and $door.gateway.className $door.gateway.parentRefs -}}
{{- $faults = append $faults "frontDoor.gateway: give className to have a Gateway made, or parentRefs to use another, not both." -}}
{{- end -}}
{{- if and $door.adminHost (has $door.adminHost $door.hosts) -}}
{{- $faults = append $faults "frontDoor.adminHost: take a host that is not among frontDoor.hosts: the admin API is not public." -}}
{{- end -}}
{{- if and $door.adminHost $door.tls.secretName (not $door.tls.adminSecretName) -}}
{{- $faults = append $faults "frontDoor.tls.adminSecretName: name the Secret with the certificate of frontDoor.adminHost, as frontDoor.tls.secretName is given: that one is of frontDoor.hosts. Name the same one if it is for all of them." -}}
{{- end -}}
{{- if and $door.tls.adminSecretName (not $door.adminHost) -}}
{{- $faults = append $faults "frontDoor.adminHost: name the host that frontDoor.tls.adminSecretName is the certificate of, or leave that empty." -}}
{{- end -}}
{{- if and (hasPrefix "*" (first $door.hosts)) (not $door.pagesURL) -}}
{{- $faults = append $faults "frontDoor.pagesURL: write the public base of the pages, such as https://book.example.com: the first of frontDoor.hosts stands for many names." -}}
{{- end -}}
{{- if and $door.adminHost (not $door.gateway.enabled) (not $door.ingress.controller) -}}
{{- $faults = append $faults "frontDoor.adminHost: enable frontDoor.gateway or set frontDoor.ingress.controller; nothing leads to that host otherwise." -}}
{{- end -}}
{{- if and (eq $door.ingress.controller "any") (not .Values.front.enabled) -}}
{{- $faults = append $faults "frontDoor.ingress.controller: set front.enabled, as any controller leads the prefix / alone; or write traefik, skipper or nginx, whose expressions of paths are known." -}}
{{- end -}}
{{- if and (or $door.gateway.enabled $door.ingress.controller .Values.front.enabled) (not $door.trustedProxies) -}}
{{- $faults = append $faults "frontDoor.trustedProxies: name the networks from which the ingress controller or gateway calls; while none is named, limits take all customers for one, and ten orders a minute stop all booking. Name no more than these: a node's address is not a proxy's, and of a whole pod network every pod is believed whatever address it claims." -}}
{{- end -}}
{{- range $door.trustedProxies -}}
{{- if hasSuffix "/0" . -}}
{{- $faults = append $faults (printf "frontDoor.trustedProxies: %s believes everybody, whatever address they claim; name the networks from which the ingress controller or gateway calls." .) -}}
{{- end -}}
{{- end -}}
{{- if and $door.gateway.experimentalRetry (not $door.gateway.enabled) -}}
{{- $faults = append $faults "frontDoor.gateway.experimentalRetry: it has no effect without frontDoor.gateway.enabled; leave it false." -}}
{{- end -}}
{{- if and .Values.front.enabled (le (int $door.timeoutSeconds) (int (add .Values.requestTimeoutSeconds 2))) -}}
{{- $faults = append $faults (printf "frontDoor.timeoutSeconds: write more than requestTimeoutSeconds and 2 (%v), for which the front waits." (add .Values.requestTimeoutSeconds 2)) -}}
{{- end -}}
{{- if and .Values.front.enabled (gt (int (add .Values.requestTimeoutSeconds 2)) (int .Values.drain.timeoutSeconds)) -}}
{{- $faults = append $faults (printf "drain.timeoutSeconds: write requestTimeoutSeconds and 2 (%v) or more, for which the front waits." (add .Values.requestTimeoutSeconds 2)) -}}
{{- end -}}
{{- if and .Values.front.enabled (eq .Values.mesh.provider "istio") (eq .Values.mesh.istio.mode "sidecar") -}}
{{- $faults = append $faults "front.enabled: set mesh.istio.mode to ambient, or lead a Gateway to the services and leave the front out: a sidecar routes by the Host of a request, which the front keeps, and would send it past the mesh." -}}
{{- end -}}
{{- if le (int $door.timeoutSeconds) (int .Values.requestTimeoutSeconds) -}}
{{- $faults = append $faults (printf "frontDoor.timeoutSeconds: write more than requestTimeoutSeconds (%v): the services answer first then, in their own words." .Values.requestTimeoutSeconds) -}}
{{- end -}}
{{- $mesh := .Values.mesh -}}
{{- $open := or $door.gateway.enabled $door.ingress.controller .Values.front.enabled -}}
{{- if and (ne $mesh.provider "none") $open (not $mesh.frontAccounts) (not $mesh.frontOutside) -}}
{{- $faults = append $faults "mesh.frontAccounts: name the service accounts of the ingress controller or gateway, or set mesh.frontOutside if it is not in the mesh; the mesh would refuse it." -}}
{{- end -}}
{{- if and $mesh.frontAccounts $mesh.frontOutside -}}
{{- $faults = append $faults "mesh: set frontOutside or name frontAccounts, not both: a client outside the mesh has no account." -}}
{{- end -}}
{{- if and (eq $mesh.provider "none") (or $mesh.frontAccounts $mesh.frontOutside $mesh.metricsAccounts $mesh.tracingProvider) -}}
{{- $faults = append $faults "mesh: set mesh.provider to istio or linkerd, or leave frontAccounts, frontOutside, metricsAccounts and tracingProvider empty." -}}
{{- end -}}
{{- if and (ne $mesh.provider "istio") $mesh.tracingProvider -}}
{{- $faults = append $faults "mesh.tracingProvider: it names an extension provider of Istio; leave it empty with another mesh." -}}
{{- end -}}
{{- $policy := .Values.networkPolicy -}}
{{- if and .Values.monitoring.enabled $policy.enabled (eq $mesh.provider "none") (not $policy.metricsFrom) -}}
{{- $faults = append $faults "networkPolicy.metricsFrom: say where Prometheus runs, as monitoring is enabled and the policies let no other client read the metrics." -}}
{{- end -}}
{{- $unscraped := and (ne $mesh.provider "none") (not (and (eq $mesh.provider "istio") (eq $mesh.istio.mode "sidecar"))) -}}
{{- if and .Values.monitoring.enabled $unscraped (not $mesh.metricsAccounts) -}}
{{- $faults = append $faults "mesh.metricsAccounts: name the service account of Prometheus, as the mesh lets no other client read the metrics." -}}
{{- end -}}
{{- $components := .Files.Get "files/components.yaml" | fromYaml -}}
{{- $_ := set $components "front" dict -}}
{{- range $name, $_ := .Values.components -}}
{{- if not (hasKey $components $name) -}}
{{- $faults = append $faults (printf "components.%s: there is no such service; write one of %s." $name (keys $components | sortAlpha | join ", ")) -}}
{{- end -}}
{{- end -}}
{{- range $name, $_ := $components -}}
{{- $faults = concat $faults (include "slotmesh.componentFaults" (dict "root" $ "name" $name) | fromYaml).faults -}}
{{- end -}}
{{- if $faults -}}
{{- fail (printf "\n%s" (join "\n" $faults)) -}}
{{- end -}}
{{- end -}}

{{/* The problems of one component's values, as YAML {faults: […]}. (root, name) */}}
{{- define "slotmesh.componentFaults" -}}
{{- $faults := list -}}
{{- $settings := include "slotmesh.settings" . | fromYaml -}}
{{- $scale := $settings.autoscaling -}}
{{- if and $scale.enabled (gt (int $scale.minReplicas) (int $scale.maxReplicas)) -}}
{{- $faults = append $faults (printf "components.%s.autoscaling: write a maxReplicas of %v or more, or a smaller minReplicas." .name $scale.minReplicas) -}}
{{- end -}}
{{- if and $scale.enabled (not (dig "requests" "cpu" "" $settings.resources)) -}}
{{- $faults = append $faults (printf "components.%s.resources.requests.cpu: write one, as autoscaling is enabled and measures against it." .name) -}}
{{- end -}}
{{- $keda := $scale.keda -}}
{{- if and $scale.enabled $keda.enabled (not $keda.prometheusURL) (not $keda.triggers) -}}
{{- $faults = append $faults (printf "components.%s.autoscaling.keda: give prometheusURL or triggers, or leave enabled false: a HorizontalPodAutoscaler scales by processor time without KEDA." .name) -}}
{{- end -}}
{{- if and $scale.enabled $keda.enabled $keda.prometheusURL (not .root.Values.monitoring.enabled) -}}
{{- $faults = append $faults (printf "components.%s.autoscaling.keda.prometheusURL: set monitoring.enabled, by which Prometheus knows the requests of each service, or leave it empty and give triggers." .name) -}}
{{- end -}}
{{- $own := list "LOG_LEVEL" "REQUEST_TIMEOUT" "UPSTREAMS" "DRAIN_DELAY" "DRAIN_TIMEOUT" "TRUSTED_PROXIES" "OTEL_EXPORTER_OTLP_ENDPOINT" "OTEL_TRACES_SAMPLER" "OTEL_TRACES_SAMPLER_ARG" "OTEL_RESOURCE_ATTRIBUTES" "POD_NAME" "NODE_NAME" "DATABASE_URL" "DATABASE_MAX_CONNS" "DATABASE_POOLED" "DATABASE_MIGRATIONS_URL" "DATABASE_SERVER_CONNECTIONS" "DATABASE_WAIT" "PGSSLMODE" "PGSSLROOTCERT" "REDIS_URL" "REDIS_CLUSTER" "REDIS_SENTINEL_MASTER" "REDIS_SENTINEL_PASSWORD" "REDIS_CA_FILE" "SLOTMESH_ADMIN_TOKEN" "SLOTMESH_SERVER" "PUBLIC_ADDR" "INTERNAL_ADDR" "MESSAGES_PER_DAY" "MESSAGES_PER_DAY_OF" "MESSAGES_UNDO" "WEBHOOK_ALLOW" "ADMIN_LIMIT_PER_MINUTE" "INVITATIONS_PER_HOUR" -}}
{{- range (include "slotmesh.row" . | fromYaml).calls -}}{{- $own = append $own (printf "%s_URL" (upper .)) -}}{{- end -}}
{{- range $variable := concat (keys $settings.env) (keys $settings.secretEnv) | sortAlpha -}}
{{- if has $variable $own -}}
{{- $faults = append $faults (printf "components.%s.env: leave %s out, the chart sets it itself." $.name $variable) -}}
{{- end -}}
{{- if and (hasKey $settings.env $variable) (hasKey $settings.secretEnv $variable) -}}
{{- $faults = append $faults (printf "components.%s: give %s under env or under secretEnv, not under both." $.name $variable) -}}
{{- end -}}
{{- end -}}
{{- dict "faults" $faults | toYaml -}}
{{- end -}}
