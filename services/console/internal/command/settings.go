package command

import (
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"github.com/slotmesh/slotmesh/libs/platform/config"
)

const defaultServer = "http://127.0.0.1:8090"

// resolveServer returns the base URL of the admin API. It returns the first of these values that is set: the flag
// --server, the variable SLOTMESH_SERVER, the default URL.
func (c *command) resolveServer() (string, error) {
	server := findFirstNonEmpty(c.server, c.host.Getenv("SLOTMESH_SERVER"), defaultServer)
	parsed, err := url.Parse(server)
	if err != nil || parsed.Host == "" || parsed.Scheme != "http" && parsed.Scheme != "https" {
		return "", fmt.Errorf("--server: %q is not an address; write one such as %s", server, defaultServer)
	}
	return strings.TrimRight(server, "/"), nil
}

// resolveToken returns the token for a server. The token comes from the first of these sources that has one:
//   - the flag --token
//   - the variable SLOTMESH_ADMIN_TOKEN, or the file in the variable SLOTMESH_ADMIN_TOKEN_FILE
//   - the token that the login command has stored for this server
//   - the file that `make run` writes
func (c *command) resolveToken(server string) (string, error) {
	// The variable can contain several tokens, separated by commas, because the server's variable can. The first one is
	// used.
	given, _, err := config.LookupSecret(environment(c.host.Getenv), "SLOTMESH_ADMIN_TOKEN")
	if err != nil && c.token == "" {
		return "", &localError{err}
	}
	if token, _, _ := strings.Cut(findFirstNonEmpty(c.token, given), ","); token != "" {
		return token, nil
	}
	if stored, err := c.readTokens(); err != nil || stored[server] != "" {
		return stored[server], err
	}
	path := filepath.Join(findFirstNonEmpty(c.host.Getenv("SLOTMESH_HOME"), ".slotmesh"), "admin-token")
	content, err := os.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) {
		return "", &localError{fmt.Errorf("no admin token: run slotmesh login, give --token, set "+
			"SLOTMESH_ADMIN_TOKEN, or keep it in %s", path)}
	}
	if err != nil {
		return "", &localError{fmt.Errorf("the admin token cannot be read: %w", err)}
	}
	token := strings.TrimSpace(string(content))
	if token == "" {
		return "", &localError{fmt.Errorf("no admin token: %s is empty", path)}
	}
	return token, nil
}

// environment finds the variables of a function such as os.Getenv.
type environment func(name string) string

// Lookup returns the value of a variable, and whether it is not empty.
func (e environment) Lookup(name string) (string, bool) { return e(name), e(name) != "" }

func findFirstNonEmpty(texts ...string) string {
	for _, text := range texts {
		if text != "" {
			return text
		}
	}
	return ""
}
