package chart_test

import (
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
)

// secretOf is the Secret and key that a variable of a container comes from.
func secretOf(c corev1.Container, variable string) string {
	for _, e := range c.Env {
		if e.Name == variable && e.ValueFrom != nil {
			return e.ValueFrom.SecretKeyRef.Name + "/" + e.ValueFrom.SecretKeyRef.Key
		}
	}
	return ""
}

func valueOf(c corev1.Container, variable string) string {
	for _, e := range c.Env {
		if e.Name == variable {
			return e.Value
		}
	}
	return ""
}

func TestEachServiceComesToTheDatabaseAsItsOwnUserAndMigrationsAsTheOwner(t *testing.T) {
	t.Parallel()
	all := mustRender(t, shapeValues(t, "production"))
	for _, c := range podOf(t, find(t, all, "Job", release+"-migrate")).Containers {
		service := podOf(t, find(t, all, "Deployment", release+"-"+c.Name)).Containers[0]
		for what, right := range map[string]bool{
			"the service's user": secretOf(service, "DATABASE_URL") == "slotmesh-database/"+c.Name &&
				secretOf(c, "DATABASE_URL") == "slotmesh-database/"+c.Name,
			"the service is no owner": secretOf(service, "DATABASE_MIGRATIONS_URL") == "",
			"migrations are":          secretOf(c, "DATABASE_MIGRATIONS_URL") == "slotmesh-owner/uri",
			"both know of the pooler": valueOf(service, "DATABASE_POOLED") == "true" &&
				valueOf(c, "DATABASE_POOLED") == "true",
			"a pooler's server is not ask": valueOf(c, "DATABASE_SERVER_CONNECTIONS") == "",
		} {
			if !right {
				t.Errorf("%s: not so: %s", c.Name, what)
			}
		}
	}
	direct := mustRender(t,
		set(t, "postgres.provider=external,postgres.existingSecret.name=x,postgres.maxConnections=300"))
	for _, c := range podOf(t, find(t, direct, "Job", release+"-migrate")).Containers {
		if got := valueOf(c, "DATABASE_SERVER_CONNECTIONS"); got != "300" {
			t.Errorf("%s: the server is asked for %q connections", c.Name, got)
		}
	}
}

func TestStoresAreVerifiedByTheirAuthorities(t *testing.T) {
	t.Parallel()
	for shape, secrets := range map[string]map[string]string{
		"production":    {"postgres-ca": "slotmesh-database-ca", "redis-ca": "slotmesh-redis-ca"},
		"cloudnativepg": {"postgres-ca": release + "-postgres-ca"},
		"trial":         {},
	} {
		all := mustRender(t, shapeValues(t, shape))
		jobs := append(ofKind(all, "Job"), ofKind(all, "Deployment")...)
		for _, o := range jobs {
			pod := podOf(t, o)
			for _, v := range pod.Volumes {
				if want, known := secrets[v.Name]; known && (v.Secret.SecretName != want ||
					v.Secret.Items[0] != corev1.KeyToPath{Key: "ca.crt", Path: "ca.crt"}) {
					t.Errorf("%s: %s: %v", shape, o.name(), v)
				}
			}
			for _, c := range pod.Containers {
				asks := map[string]bool{"postgres-ca": secretOf(c, "DATABASE_URL") != "",
					"redis-ca": valueOf(c, "REDIS_URL")+secretOf(c, "REDIS_URL") != ""}
				for volume := range asks {
					want := asks[volume] && secrets[volume] != ""
					if has := slices.ContainsFunc(c.VolumeMounts,
						func(m corev1.VolumeMount) bool { return m.Name == volume }); has != want {
						t.Errorf("%s: %s: %s mounts %s: %v, want %v", shape, o.name(), c.Name, volume, has, want)
					}
				}
				if verified := valueOf(c, "PGSSLMODE") == "verify-full"; verified != (asks["postgres-ca"] &&
					secrets["postgres-ca"] != "") {
					t.Errorf("%s: %s: %s verifies: %v", shape, o.name(), c.Name, verified)
				}
			}
		}
	}
}

func TestRedisOfEveryKindIsReached(t *testing.T) {
	t.Parallel()
	sentinels := mustRender(t,
		set(t,
			"redis.provider=external,redis.url=redis://a:26379?addr=b:26379,redis.sentinel.master=slotmesh,redis.sentinel.existingSecret.name=s"))
	booking := podOf(t, find(t, sentinels, "Deployment", release+"-booking")).Containers[0]
	if valueOf(booking, "REDIS_SENTINEL_MASTER") != "slotmesh" || secretOf(booking,
		"REDIS_SENTINEL_PASSWORD") != "s/password" {
		t.Errorf("Sentinels: %v", booking.Env)
	}
	cluster := mustRender(t, set(t, "redis.provider=external,redis.url=redis://a:6379,redis.cluster=true"))
	if booking := podOf(t, find(t, cluster, "Deployment", release+"-booking")).Containers[0]; valueOf(booking,
		"REDIS_CLUSTER") != "true" {
		t.Errorf("a cluster: %v", booking.Env)
	}
}

func TestTheDatabaseOfTheOperatorOutlivesTheReleaseAndItsPrimary(t *testing.T) {
	t.Parallel()
	cluster := find(t, mustRender(t, shapeValues(t, "cloudnativepg")), "Cluster", release+"-postgres")
	if text(cluster, "metadata", "annotations", "helm.sh/resource-policy") != "keep" {
		t.Error("helm uninstall deletes it")
	}
	if number := at(cluster, "spec", "postgresql", "synchronous", "number"); number != float64(1) {
		t.Errorf("%v copies hold a write that is acknowledged", number)
	}
	recovered := mustRender(t,
		decode[map[string]any](t,
			[]byte(`{postgres: {provider: cloudnativepg, cloudnativepg: {spec: {bootstrap: {recovery: {source: backup}}}}}}`)))
	bootstrap := at(find(t, recovered, "Cluster", release+"-postgres"), "spec", "bootstrap")
	if at(bootstrap, "recovery", "source") != "backup" || at(bootstrap, "initdb") != nil {
		t.Errorf("a recovery begins with %v", bootstrap)
	}
}
