package config

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/sethvargo/go-envconfig"
)

type secretSettings struct {
	URL   string   `env:"STORE_URL, required" secret:"true"`
	Keys  []string `env:"KEYS" secret:"true"`
	Plain string   `env:"PLAIN"`
}

func writeSecret(t *testing.T, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestLoadReadsSecretsFromFiles(t *testing.T) {
	t.Parallel()
	var s secretSettings
	err := Load(t.Context(), &s, envconfig.MapLookuper(map[string]string{
		"STORE_URL": "", "STORE_URL_FILE": writeSecret(t, "redis://u:p@host\r\n"), "KEYS_FILE": writeSecret(t, "new,old\n"),
		"PLAIN_FILE": writeSecret(t, "no secret"),
	}))
	if err != nil || s.URL != "redis://u:p@host" || !slices.Equal(s.Keys, []string{"new", "old"}) || s.Plain != "" {
		t.Errorf("%+v %v", s, err)
	}
	if names := Secrets(&s); !slices.Equal(names, []string{"KEYS", "STORE_URL"}) {
		t.Errorf("secrets: %q", names)
	}
}

func TestLoadRefusesInvalidSecretFiles(t *testing.T) {
	t.Parallel()
	for sentence, env := range map[string]map[string]string{
		"STORE_URL_FILE: STORE_URL is set, too": {"STORE_URL": "hunter2", "STORE_URL_FILE": writeSecret(t, "hunter2")},
		"is empty; write the secret":            {"STORE_URL_FILE": writeSecret(t, "\n")},
		"has several lines":                     {"STORE_URL_FILE": writeSecret(t, "hunter2\nhunter2\n")},
		"no such file":                          {"STORE_URL_FILE": "/nowhere/secret"},
		"has more than 65536 bytes":             {"STORE_URL_FILE": writeSecret(t, strings.Repeat("hunter2", 10000))},
	} {
		err := Load(t.Context(), new(secretSettings), envconfig.MapLookuper(env))
		if err == nil || !strings.Contains(err.Error(), "STORE_URL_FILE: ") || !strings.Contains(err.Error(), sentence) ||
			strings.Contains(err.Error(), "hunter2") {
			t.Errorf("want %q, got %v", sentence, err)
		}
	}
}
