package testkit

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// DexPath is the environment variable with the path of the Dex program.
// `make test` builds Dex and stores it next to Go's build cache.
const DexPath = "SLOTMESH_TEST_DEX"

// DexUser is a user who signs in to a Dex server with a password.
type DexUser struct {
	Email         string   `json:"email"`
	Username      string   `json:"username"`
	UserID        string   `json:"userID"`
	Hash          string   `json:"hash"` // bcrypt hash of the password
	EmailVerified bool     `json:"emailVerified"`
	Groups        []string `json:"groups"`
}

// DexClient is a program whose users sign in through a Dex server.
type DexClient struct {
	ID           string   `json:"id"`
	Secret       string   `json:"secret"`
	Name         string   `json:"name"`
	RedirectURIs []string `json:"redirectURIs"`
}

// StartDex runs Dex, an OpenID Connect provider, until the test ends. It returns the issuer URL of the provider.
func StartDex(t *testing.T, client DexClient, users ...DexUser) string {
	t.Helper()
	binary, folder := lookup(t, DexPath), t.TempDir()
	address := Serve(t, func(address string) *exec.Cmd {
		config, err := json.Marshal(map[string]any{
			"issuer": "http://" + address + "/dex", "storage": map[string]string{"type": "memory"},
			"web":    map[string]string{"http": address},
			"oauth2": map[string]bool{"skipApprovalScreen": true}, "enablePasswordDB": true, "staticPasswords": users,
			"staticClients": []DexClient{client},
		})
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(folder, "dex.yaml")
		if err := os.WriteFile(path, config, 0o600); err != nil {
			t.Fatal(err)
		}
		return exec.Command(binary, "serve", path)
	})
	return "http://" + address + "/dex"
}
