package cli

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
)

func (c *command) login() *cobra.Command {
	return &cobra.Command{
		Use: "login", Short: "Keep a token for this server", Args: cobra.NoArgs,
		Long: `login reads a token of the admin API from standard input, asks the server whether it is good, and keeps it for this
server alone, in a file that nobody else of this machine may read: slotmesh/tokens.json in XDG_CONFIG_HOME, or in .config of HOME.`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			server, err := c.resolveServer()
			if err != nil {
				return err
			}
			_, _ = fmt.Fprintf(c.host.Stderr, "Token for %s: ", server)
			line, _ := bufio.NewReader(c.host.Stdin).ReadString('\n') // a last line may have no end
			if c.token = strings.TrimSpace(line); c.token == "" {
				return &localError{errors.New("no token was given; paste one, or pipe it in")}
			}
			client, err := c.client()
			if err != nil {
				return err
			}
			defer client.close()
			if err := client.call(cmd.Context(), http.MethodGet, "/admin/businesses?limit=1", nil, nil); err != nil {
				return err
			}
			if err := c.keepToken(server, c.token); err != nil {
				return &localError{fmt.Errorf("the token cannot be kept: %w", err)}
			}
			return c.done(map[string]any{"server": server}, "the token for %s is kept", server)
		},
	}
}

// tokensFile is where login keeps tokens by server; "" where there is no home.
func (c *command) tokensFile() string {
	if folder := c.host.Getenv("XDG_CONFIG_HOME"); folder != "" {
		return filepath.Join(folder, "slotmesh", "tokens.json")
	}
	if home := c.host.Getenv("HOME"); home != "" {
		return filepath.Join(home, ".config", "slotmesh", "tokens.json")
	}
	return ""
}

// keptTokens are the tokens that login has kept, by server: one is never shown to another server.
func (c *command) keptTokens() (map[string]string, error) {
	kept := map[string]string{}
	path := c.tokensFile()
	text, err := os.ReadFile(path)
	if path == "" || errors.Is(err, fs.ErrNotExist) {
		return kept, nil
	}
	if err == nil {
		err = json.Unmarshal(text, &kept)
	}
	if err != nil {
		return nil, &localError{fmt.Errorf("the tokens of slotmesh login cannot be read: %w", err)}
	}
	return kept, nil
}

// keepToken writes the file anew beside the old one, so that no reader finds half of it.
func (c *command) keepToken(server, token string) error {
	path := c.tokensFile()
	if path == "" {
		return errors.New("neither XDG_CONFIG_HOME nor HOME is set")
	}
	kept, err := c.keptTokens()
	if err != nil {
		return err
	}
	kept[server] = token
	text, err := encodeJSON(kept)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	draft, err := os.CreateTemp(filepath.Dir(path), "tokens-*") // which nobody else may read
	if err != nil {
		return err
	}
	_, written := draft.Write(text)
	if err := errors.Join(written, draft.Close()); err != nil {
		return errors.Join(err, os.Remove(draft.Name()))
	}
	return os.Rename(draft.Name(), path)
}
