package chart_test

import (
	"fmt"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"helm.sh/helm/v3/pkg/chart"
)

func TestLargeNumbersAreDecimal(t *testing.T) {
	t.Parallel()
	example := regexp.MustCompile("`(\\{CATALOG_MEMORY_BYTES: .+?\\})`").FindStringSubmatch(readReadme(t))
	if example == nil {
		t.Fatal("the README has no example of a setting")
	}
	env := decode[map[string]any](t, []byte(example[1]))
	all := mustRender(t, map[string]any{"defaults": map[string]any{"env": env}})
	memory := readEnvironment(findPodSpec(findObject(t, all, "Deployment", release+"-catalog")))["CATALOG_MEMORY_BYTES"]
	if memory != "134217728" {
		t.Errorf("CATALOG_MEMORY_BYTES is %q", memory)
	}
	values := loadShape(t, "ingress-nginx")
	values["frontDoor"].(map[string]any)["bodyBytes"] = float64(8 << 20)
	size := lookUpText(findObject(t, mustRender(t, values), "Ingress", release), "metadata", "annotations",
		"nginx.ingress.kubernetes.io/proxy-body-size")
	if size != "8388608" {
		t.Errorf("nginx takes bodies of %q bytes", size)
	}
}

// labelValue matches what the API server accepts as the value of a label, except for its length.
var labelValue = regexp.MustCompile(`^([A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?)?$`)

func TestTagsAndDigestsGiveValidLabels(t *testing.T) {
	t.Parallel()
	digest := "sha256:" + strings.Repeat("0123456789abcdef", 4)
	for _, c := range []struct{ tag, image, version string }{
		{"1.2.3", ":1.2.3", "1.2.3"},
		{digest, "@" + digest, ""},
		{"_" + strings.Repeat("a", 61) + ".b", ":_" + strings.Repeat("a", 61) + ".b", strings.Repeat("a", 61)},
	} {
		all := mustRender(t, map[string]any{"image": map[string]any{"tag": c.tag}})
		for _, o := range all {
			labels, _ := lookUp(o, "metadata", "labels").(map[string]any)
			for name, value := range labels {
				if s := fmt.Sprint(value); len(s) > 63 || !labelValue.MatchString(s) {
					t.Errorf("%s: %s %s has the label %s: %s", c.tag, o.kind(), o.name(), name, s)
				}
			}
		}
		catalog := findObject(t, all, "Deployment", release+"-catalog")
		if image := lookUpText(lookUpList(findPodSpec(catalog), "containers")[0],
			"image"); image != "localhost/slotmesh-catalog"+
			c.image {
			t.Errorf("%s: the image is %s", c.tag, image)
		}
		if version := lookUpText(catalog, "metadata", "labels", "app.kubernetes.io/version"); version != c.version {
			t.Errorf("%s: the version is %q, want %q", c.tag, version, c.version)
		}
	}
}

// TestUpgradeKeepsTrialStorePods compares the pods of two releases. Another version of Slotmesh must not restart
// PostgreSQL and Redis of the trial.
func TestUpgradeKeepsTrialStorePods(t *testing.T) {
	t.Parallel()
	pods := func(version, settings string) map[string]any {
		loaded := loadChart(t)
		loaded.Metadata.Version, loaded.Metadata.AppVersion = version, version
		files, err := renderChart(t, loaded, parseSettings(t, "postgres.provider=trial,redis.provider=trial,"+settings),
			true)
		if err != nil {
			t.Fatal(err)
		}
		all, of := parseObjects(t, files), make(map[string]any)
		for _, w := range []string{"StatefulSet postgres", "Deployment redis", "Deployment catalog"} {
			kind, name, _ := strings.Cut(w, " ")
			of[w] = lookUp(findObject(t, all, kind, release+"-"+name), "spec", "template")
		}
		return of
	}
	before := pods("1.2.0", "")
	for _, after := range []map[string]any{pods("1.3.0", ""), pods("1.2.0", "image.tag=own")} {
		for w, template := range after {
			if same := reflect.DeepEqual(before[w], template); same != (w != "Deployment catalog") {
				t.Errorf("%s: its pods stay as they are: %v", w, same)
			}
		}
	}
}

// TestReleasedChartUsesDigests adds the file that a release writes into the chart.
func TestReleasedChartUsesDigests(t *testing.T) {
	t.Parallel()
	digest := "sha256:" + strings.Repeat("0123456789abcdef", 4)
	released := loadChart(t)
	released.Metadata.AppVersion = "1.2.0"
	released.Files = append(released.Files,
		&chart.File{Name: "files/digests.yaml", Data: []byte("catalog: " + digest + "\n")})
	for _, c := range []struct{ name, values, want string }{
		{"as released", "", "localhost/slotmesh-catalog:1.2.0@" + digest},
		{"from a mirror", "image.prefix=mirror.example.com/", "mirror.example.com/catalog:1.2.0@" + digest},
		{"another tag", "image.tag=own", "localhost/slotmesh-catalog:own"},
		{"another tag of one service", "components.catalog.image.tag=own", "localhost/slotmesh-catalog:own"},
		{"another repository", "components.catalog.image.repository=own/catalog", "own/catalog:1.2.0"},
	} {
		t.Run(c.name, func(t *testing.T) {
			files, err := renderChart(t, released, parseSettings(t, c.values), false)
			if err != nil {
				t.Fatal(err)
			}
			catalog := findObject(t, parseObjects(t, files), "Deployment", release+"-catalog")
			if image := lookUpText(lookUpList(findPodSpec(catalog), "containers")[0], "image"); image != c.want {
				t.Errorf("the image is %s, want %s", image, c.want)
			}
			if version := lookUpText(catalog, "metadata", "labels", "app.kubernetes.io/version"); version != "1.2.0" &&
				!strings.Contains(c.values, "image.tag") {
				t.Errorf("the version is %q", version)
			}
		})
	}
}

// limitValues set the limits of businesses and their messages, and the networks for webhooks.
const limitValues = `
limits:
  adminPerMinute: 2000
  invitationsPerHour: 7
  messagesPerDay: 2000
  messagesPerDayOf: {01890a5d-ac96-774b-bcce-b302099a8057: 5000, 01890a5d-ac96-774b-bcce-b302099a8058: 20000000}
messages: {undoSeconds: 45}
webhooks: {allow: [10.1.0.0/16, "fd00::/8"]}
`

func TestLimitsAndWebhookNetworksReachServices(t *testing.T) {
	t.Parallel()
	all := mustRender(t, decode[map[string]any](t, []byte(limitValues)))
	for service, want := range map[string]map[string]string{
		"console": {"ADMIN_LIMIT_PER_MINUTE": "2000", "INVITATIONS_PER_HOUR": "7"},
		"notifications": {
			"MESSAGES_PER_DAY": "2000", "MESSAGES_UNDO": "45s", "WEBHOOK_ALLOW": "10.1.0.0/16,fd00::/8",
			"MESSAGES_PER_DAY_OF": "01890a5d-ac96-774b-bcce-b302099a8057:5000,01890a5d-ac96-774b-bcce-b302099a8058:20000000",
		},
	} {
		env := readEnvironment(findPodSpec(findObject(t, all, "Deployment", release+"-"+service)))
		for name, value := range want {
			if env[name] != value {
				t.Errorf("%s of %s is %q, want %q", name, service, env[name], value)
			}
		}
	}
	for _, service := range services {
		rendered := fmt.Sprint(findObject(t, all, "NetworkPolicy", release+"-"+service))
		if allowed := strings.Contains(rendered, "fd00::/8"); allowed != (service == "notifications") {
			t.Errorf("%s may call the networks of webhooks: %t", service, allowed)
		}
	}
	for _, refused := range []string{
		"limits.adminPerMinute=100001", "limits.messagesPerDay=0", "limits.messagesPerDayOf.harbor=1",
		"messages.undoSeconds=301", "webhooks.allow={10.0.0.1}",
	} {
		if _, err := render(t, parseSettings(t, refused), false); err == nil {
			t.Errorf("%s is taken, which the service refuses", refused)
		}
	}
}
