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

// TokenFile is the name of the file in the home with the admin token.
const TokenFile = "admin-token"

// loadAdminToken returns the configured admin token. If none is configured, it returns the one in the
// home, which the first start creates.
func loadAdminToken(cfg Config, home string) (string, error) {
	if cfg.AdminToken != "" {
		return cfg.AdminToken, nil
	}
	return loadSecret(home, TokenFile, "the admin token")
}

// linkSecretFile is the name of the file in the home that stores the secret of customers' links. Links
// in mails that were sent before a restart therefore still work.
const linkSecretFile = "link-secret"

// loadSecret returns the secret in a file of the home, which the first start creates. The argument
// what names the secret in errors.
func loadSecret(home, file, what string) (string, error) {
	path := filepath.Join(home, file)
	kept, err := os.ReadFile(path)
	if err == nil && len(strings.TrimSpace(string(kept))) > 0 {
		return strings.TrimSpace(string(kept)), nil
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("%s cannot be read: %w", what, err)
	}
	secret := newToken()
	if err := os.WriteFile(path, []byte(secret+"\n"), 0o600); err != nil {
		return "", fmt.Errorf("%s cannot be kept: %w", what, err)
	}
	return secret, nil
}

func newToken() string {
	secret := make([]byte, 24)
	_, _ = rand.Read(secret) // never fails
	return hex.EncodeToString(secret)
}
