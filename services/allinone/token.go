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

// TokenFile is the name of the admin token's file in the home.
const TokenFile = "admin-token"

// adminToken is the one that is set, else the one kept in the home, which is made at the first start.
func adminToken(cfg Config, home string) (string, error) {
	if cfg.AdminToken != "" {
		return cfg.AdminToken, nil
	}
	path := filepath.Join(home, TokenFile)
	kept, err := os.ReadFile(path)
	if err == nil && len(strings.TrimSpace(string(kept))) > 0 {
		return strings.TrimSpace(string(kept)), nil
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("the admin token cannot be read: %w", err)
	}
	token := randomToken()
	if err := os.WriteFile(path, []byte(token+"\n"), 0o600); err != nil {
		return "", fmt.Errorf("the admin token cannot be kept: %w", err)
	}
	return token, nil
}

func randomToken() string {
	secret := make([]byte, 24)
	_, _ = rand.Read(secret) // never fails
	return hex.EncodeToString(secret)
}
