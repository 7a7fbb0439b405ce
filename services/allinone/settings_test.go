package allinone

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/sethvargo/go-envconfig"

	"github.com/slotmesh/slotmesh/libs/platform/config"
)

// TestReadSettingsPassesServiceSettings checks all settings of the services. The process passes a setting to the
// services, uses it itself, or refuses it.
func TestReadSettingsPassesServiceSettings(t *testing.T) {
	t.Parallel()
	own := config.Names(new(Config))
	given := map[string]string{}
	for _, name := range listServiceSettings() {
		if !isOwnSetting(name) {
			given[name] = "value of " + name
		}
	}
	cfg := Config{}
	if err := readSettings(&cfg, envconfig.MapLookuper(given)); err != nil {
		t.Fatal(err)
	}
	opened, err := openPorts(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = opened.close() }()
	p := &Process{cfg: cfg, ports: opened}
	environment := p.environmentWith("booking", "postgres://localhost/x", "redis://localhost")
	for name, want := range given {
		if slices.Contains(own, name) {
			continue
		}
		if got, _ := environment.Lookup(name); got != want {
			t.Errorf("%s is %q for the services", name, got)
		}
	}
	for _, name := range []string{
		"BOOKING_IP_LIMIT_PER_MINUTE", "PAGES_LIMIT_PER_MINUTE", "OIDC_ISSUER", "OIDC_CLIENT_SECRET", "MCP_ORIGINS",
		"LINK_SECRETS", "REQUEST_TIMEOUT",
		"MAX_CONNECTIONS_PER_ADDRESS", "DATABASE_MAX_CONNS",
	} {
		if !slices.Contains(listPassedSettings(), name) {
			t.Errorf("%s is not passed on", name)
		}
	}
	for _, name := range []string{"PEER_SECRETS", "CATALOG_URL", "INTERNAL_ADDR", "UPSTREAMS"} {
		if err := readSettings(&Config{}, envconfig.MapLookuper(map[string]string{name: "x"})); err == nil ||
			!strings.HasPrefix(err.Error(), name+": ") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestCheckNamesRefusesUnknownSetting(t *testing.T) {
	t.Parallel()
	knownNames := []string{
		"PATH=/bin", "SLOTMESH_HOME=x", "SLOTMESH_DEMO=false", "SLOTMESH_SERVER=http://x",
		"SLOTMESH_TEST_DATABASE_URL=x", "SLOTMESH_INSTALL=yes", "SLOTMESH_ADMIN_TOKEN_FILE=/run/token",
		"SLOTMESH_SERVICE_HOST=10.0.0.1", "SLOTMESH_PORT=tcp://10.0.0.1:80", "SLOTMESH_FRONT_PORT_80_TCP_ADDR=10.0.0.1",
		"SLOTMESH_FRONT_SERVICE_PORT_HTTP=80",
	}
	if err := CheckNames(knownNames); err != nil {
		t.Error(err)
	}
	if err := CheckNames(append(knownNames, "SLOTMESH_DEMOS=false")); err == nil || !strings.HasPrefix(err.Error(),
		"SLOTMESH_DEMOS: ") {
		t.Errorf("%v", err)
	}
}

// TestReadSettingsReadsSecretsFromFiles checks a secret that the process passes on, and one that it refuses.
func TestReadSettingsReadsSecretsFromFiles(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(file, []byte("s3cret\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	var cfg Config
	if err := readSettings(&cfg, envconfig.MapLookuper(map[string]string{"LINK_SECRETS_FILE": file})); err != nil ||
		cfg.Settings["LINK_SECRETS"] != "s3cret" {
		t.Errorf("%v %v", cfg.Settings, err)
	}
	for _, env := range []map[string]string{{"PEER_SECRETS_FILE": file},
		{"LINK_SECRETS_FILE": file, "LINK_SECRETS": "other"}} {
		if err := readSettings(&Config{}, envconfig.MapLookuper(env)); err == nil {
			t.Errorf("%v is accepted", env)
		}
	}
}

// TestRunChecksSettingsBeforeStores shows that a start with invalid settings fails before it creates stores. The error
// names each invalid setting once.
func TestRunChecksSettingsBeforeStores(t *testing.T) {
	t.Parallel()
	home := filepath.Join(t.TempDir(), "home")
	var out bytes.Buffer
	err := Run(t.Context(), envconfig.MapLookuper(map[string]string{
		"SLOTMESH_HOME": home, "PORT": "0", "ADMIN_PORT": "0", "MAIL_PORT": "0", "BOOKING_IP_LIMIT_PER_MINUTE": "many",
		"PAGES_URL": "nowhere",
	}), &out)
	if err == nil {
		t.Fatal("the process started with invalid settings")
	}
	for _, name := range []string{"BOOKING_IP_LIMIT_PER_MINUTE: ", "PAGES_URL: "} {
		if strings.Count(err.Error(), name) != 1 {
			t.Errorf("%s is named %d times in: %v", name, strings.Count(err.Error(), name), err)
		}
	}
	if _, err := os.Stat(filepath.Join(home, "postgres")); !os.IsNotExist(err) {
		t.Errorf("a PostgreSQL was made: %v", err)
	}
	if strings.Contains(err.Error(), "DATABASE_URL") {
		t.Errorf("another setting is blamed: %v", err)
	}
}

// TestListNamesHasNamesOfDocuments compares the settings with the file of the packages, the help text, and the secrets in
// the guide. The program refuses other names in a file of settings.
func TestListNamesHasNamesOfDocuments(t *testing.T) {
	t.Parallel()
	names := ListNames()
	for _, name := range []string{"LOG_LEVEL", "ZONE_DATA", "OTEL_EXPORTER_OTLP_ENDPOINT"} {
		if !slices.Contains(names, name) {
			t.Errorf("%s is no setting", name)
		}
	}
	for _, file := range []string{"../../dist/files/slotmesh.env", "../../dist/compose/slotmesh.env.example"} {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		found := regexp.MustCompile(`(?m)^(?:# )?([A-Z_]+)=`).FindAllStringSubmatch(string(text), -1)
		if len(found) == 0 {
			t.Errorf("%s has no settings", file)
		}
		for _, match := range found {
			if !slices.Contains(names, match[1]) {
				t.Errorf("%s: %s is no setting", file, match[1])
			}
		}
	}
	guide, err := os.ReadFile("../../docs/operators/install.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(guide), "\n## Secrets\n")
	section, _, _ = strings.Cut(section, "\n## ")
	for _, name := range listSecrets() {
		if !isOwnSetting(name) && !strings.Contains(section, "`"+name+"`") {
			t.Errorf("install.md does not name the secret %s", name)
		}
	}
}
