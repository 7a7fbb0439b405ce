package chart_test

import (
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
)

// findSecret returns the Secret and the key of a container's variable, as "secret/key".
func findSecret(c corev1.Container, variable string) string {
	for _, e := range c.Env {
		if e.Name == variable && e.ValueFrom != nil {
			return e.ValueFrom.SecretKeyRef.Name + "/" + e.ValueFrom.SecretKeyRef.Key
		}
	}
	return ""
}

func findValue(c corev1.Container, variable string) string {
	for _, e := range c.Env {
		if e.Name == variable {
			return e.Value
		}
	}
	return ""
}

func TestServicesUseOwnDatabaseUsers(t *testing.T) {
	t.Parallel()
	all := mustRender(t, loadShape(t, "production"))
	for _, c := range readPod(t, findObject(t, all, "Job", release+"-migrate")).Containers {
		service := readPod(t, findObject(t, all, "Deployment", release+"-"+c.Name)).Containers[0]
		for what, right := range map[string]bool{
			"the service's user": findSecret(service, "DATABASE_URL") == "slotmesh-database/"+c.Name &&
				findSecret(c, "DATABASE_URL") == "slotmesh-database/"+c.Name,
			"the service is no owner": findSecret(service, "DATABASE_MIGRATIONS_URL") == "",
			"migrations are":          findSecret(c, "DATABASE_MIGRATIONS_URL") == "slotmesh-owner/uri",
			"both know of the pooler": findValue(service, "DATABASE_POOLED") == "true" &&
				findValue(c, "DATABASE_POOLED") == "true",
			"a pooler's server is not ask": findValue(c, "DATABASE_SERVER_CONNECTIONS") == "",
		} {
			if !right {
				t.Errorf("%s: not so: %s", c.Name, what)
			}
		}
	}
	direct := mustRender(t,
		parseSettings(t, "postgres.provider=external,postgres.existingSecret.name=x,postgres.maxConnections=300"))
	for _, c := range readPod(t, findObject(t, direct, "Job", release+"-migrate")).Containers {
		if got := findValue(c, "DATABASE_SERVER_CONNECTIONS"); got != "300" {
			t.Errorf("%s: the server is asked for %q connections", c.Name, got)
		}
	}
}

func TestPodsVerifyStoreCertificates(t *testing.T) {
	t.Parallel()
	for shape, secrets := range map[string]map[string]string{
		"production":    {"postgres-ca": "slotmesh-database-ca", "redis-ca": "slotmesh-redis-ca"},
		"cloudnativepg": {"postgres-ca": release + "-postgres-ca"},
		"trial":         {},
	} {
		all := mustRender(t, loadShape(t, shape))
		jobs := append(filterKind(all, "Job"), filterKind(all, "Deployment")...)
		for _, o := range jobs {
			pod := readPod(t, o)
			for _, v := range pod.Volumes {
				if want, known := secrets[v.Name]; known && (v.Secret.SecretName != want ||
					v.Secret.Items[0] != corev1.KeyToPath{Key: "ca.crt", Path: "ca.crt"}) {
					t.Errorf("%s: %s: %v", shape, o.name(), v)
				}
			}
			for _, c := range pod.Containers {
				needsVolume := map[string]bool{"postgres-ca": findSecret(c, "DATABASE_URL") != "",
					"redis-ca": findValue(c, "REDIS_URL")+findSecret(c, "REDIS_URL") != ""}
				for volume := range needsVolume {
					want := needsVolume[volume] && secrets[volume] != ""
					if has := slices.ContainsFunc(c.VolumeMounts,
						func(m corev1.VolumeMount) bool { return m.Name == volume }); has != want {
						t.Errorf("%s: %s: %s mounts %s: %v, want %v", shape, o.name(), c.Name, volume, has, want)
					}
				}
				if verified := findValue(c, "PGSSLMODE") == "verify-full"; verified != (needsVolume["postgres-ca"] &&
					secrets["postgres-ca"] != "") {
					t.Errorf("%s: %s: %s verifies: %v", shape, o.name(), c.Name, verified)
				}
			}
		}
	}
}

func TestServicesSupportSentinelsAndCluster(t *testing.T) {
	t.Parallel()
	sentinels := mustRender(t,
		parseSettings(t,
			"redis.provider=external,redis.url=redis://a:26379?addr=b:26379,redis.sentinel.master=slotmesh,redis.sentinel.existingSecret.name=s"))
	booking := readPod(t, findObject(t, sentinels, "Deployment", release+"-booking")).Containers[0]
	if findValue(booking, "REDIS_SENTINEL_MASTER") != "slotmesh" || findSecret(booking,
		"REDIS_SENTINEL_PASSWORD") != "s/password" {
		t.Errorf("Sentinels: %v", booking.Env)
	}
	cluster := mustRender(t, parseSettings(t, "redis.provider=external,redis.url=redis://a:6379,redis.cluster=true"))
	if booking := readPod(t, findObject(t, cluster, "Deployment", release+"-booking")).Containers[0]; findValue(booking,
		"REDIS_CLUSTER") != "true" {
		t.Errorf("a cluster: %v", booking.Env)
	}
}

func TestCloudNativePGClusterIsKept(t *testing.T) {
	t.Parallel()
	cluster := findObject(t, mustRender(t, loadShape(t, "cloudnativepg")), "Cluster", release+"-postgres")
	if lookUpText(cluster, "metadata", "annotations", "helm.sh/resource-policy") != "keep" {
		t.Error("helm uninstall deletes it")
	}
	if number := lookUp(cluster, "spec", "postgresql", "synchronous", "number"); number != float64(1) {
		t.Errorf("%v copies hold a write that is acknowledged", number)
	}
	recovered := mustRender(t,
		decode[map[string]any](t,
			[]byte(`{postgres: {provider: cloudnativepg, cloudnativepg: {spec: {bootstrap: {recovery: {source: backup}}}}}}`)))
	bootstrap := lookUp(findObject(t, recovered, "Cluster", release+"-postgres"), "spec", "bootstrap")
	if lookUp(bootstrap, "recovery", "source") != "backup" || lookUp(bootstrap, "initdb") != nil {
		t.Errorf("a recovery begins with %v", bootstrap)
	}
}
