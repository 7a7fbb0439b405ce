package allinone

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// TokenFile is the name of the file in the home folder that contains the admin token.
const TokenFile = "admin-token"

// loadAdminToken returns the admin token in the settings. If the settings contain none, it returns the token in the
// home folder, which the first start creates.
func loadAdminToken(cfg Config, home string) (string, error) {
	if cfg.AdminToken != "" {
		return cfg.AdminToken, nil
	}
	return loadSecret(home, TokenFile, "the admin token")
}

// linkSecretFile is the name of the file in the home folder that contains the secret from which the links to customer
// views are derived. Because of the file, the links in mails still work after a restart.
const linkSecretFile = "link-secret"

// loadSecret returns the secret in a file of the home folder, which the first start creates. The argument `label` is
// the name of the secret in errors.
func loadSecret(home, file, label string) (string, error) {
	path := filepath.Join(home, file)
	stored, err := os.ReadFile(path)
	if err == nil && len(strings.TrimSpace(string(stored))) > 0 {
		return strings.TrimSpace(string(stored)), nil
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("%s cannot be read: %w", label, err)
	}
	secret := newToken()
	if err := os.WriteFile(path, []byte(secret+"\n"), 0o600); err != nil {
		return "", fmt.Errorf("%s cannot be kept: %w", label, err)
	}
	return secret, nil
}

func newToken() string {
	secret := make([]byte, 24)
	_, _ = rand.Read(secret) // never fails
	return hex.EncodeToString(secret)
}
