package command

import (
	"bufio"
	"context"
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

func (c *command) newLoginCommand() *cobra.Command {
	var inBrowser, pasted bool
	cmd := &cobra.Command{
		Use: "login", Short: "Sign in to this server, and keep the token", Args: cobra.NoArgs,
		Long: `login prints an address and a code. Open the address in a browser, sign in there as you always do, and confirm the code: the token that this
machine gets may do what you may do in one business, or as an operator everywhere, for 90 days. It ends with your password, and when
it is not used for 30 days. With --with-token, or where nobody types, it reads a token of the admin API from standard input instead, and asks the server whether it is good.

The token is kept for this server alone, in a file that nobody else of this machine may read: slotmesh/tokens.json in XDG_CONFIG_HOME,
or in .config of HOME.`,
		Example: `  slotmesh login
  slotmesh login --server https://owner.example.com
  slotmesh login --with-token < token.txt`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			server, err := c.resolveServer()
			if err != nil {
				return err
			}
			if inBrowser || c.host.isTerminal() && !pasted {
				c.token, err = c.requestToken(cmd.Context(), server)
			} else {
				c.token, err = c.readPastedToken(server)
			}
			if err != nil {
				return err
			}
			return c.saveIfValid(cmd.Context(), server)
		},
	}
	cmd.Flags().BoolVar(&inBrowser, "browser", false, "confirm a code in a browser, also where nobody types")
	cmd.Flags().BoolVar(&pasted, "with-token", false, "read a token from standard input")
	cmd.MarkFlagsMutuallyExclusive("browser", "with-token")
	return cmd
}

// readPastedToken reads a token from standard input.
func (c *command) readPastedToken(server string) (string, error) {
	_, _ = fmt.Fprintf(c.host.Stderr, "Token for %s: ", server)
	line, _ := bufio.NewReader(c.host.Stdin).ReadString('\n') // the last line need not end with a line break
	token := strings.TrimSpace(line)
	if token == "" {
		return "", &localError{errors.New("no token was given; paste one, or pipe it in")}
	}
	return token, nil
}

// saveIfValid sends a request with the command's token. If the server accepts the request, saveIfValid stores the token
// for this server.
func (c *command) saveIfValid(ctx context.Context, server string) error {
	client, err := c.client()
	if err != nil {
		return err
	}
	defer client.close()
	if err := client.call(ctx, http.MethodGet, "/admin/businesses?limit=1", nil, nil); err != nil {
		return err
	}
	if err := c.saveToken(server, c.token); err != nil {
		return &localError{fmt.Errorf("the token cannot be kept: %w", err)}
	}
	return c.printDone(map[string]any{"server": server}, "the token for %s is kept", server)
}

// findTokensFile returns the path of the file in which the login command stores one token for each server. It returns
// "" if neither XDG_CONFIG_HOME nor HOME is set.
func (c *command) findTokensFile() string {
	if folder := c.host.Getenv("XDG_CONFIG_HOME"); folder != "" {
		return filepath.Join(folder, "slotmesh", "tokens.json")
	}
	if home := c.host.Getenv("HOME"); home != "" {
		return filepath.Join(home, ".config", "slotmesh", "tokens.json")
	}
	return ""
}

// readTokens returns a map from the URL of each server to the token that is stored for this server. The command must
// never send a token to another server.
func (c *command) readTokens() (map[string]string, error) {
	stored := map[string]string{}
	path := c.findTokensFile()
	text, err := os.ReadFile(path)
	if path == "" || errors.Is(err, fs.ErrNotExist) {
		return stored, nil
	}
	if err == nil {
		err = json.Unmarshal(text, &stored)
	}
	if err != nil {
		return nil, &localError{fmt.Errorf("the tokens of slotmesh login cannot be read: %w", err)}
	}
	return stored, nil
}

// saveToken stores the token of a server in the file at [command.findTokensFile]. It writes a new file and then renames
// the file, so that other processes never read an incomplete one.
func (c *command) saveToken(server, token string) error {
	path := c.findTokensFile()
	if path == "" {
		return errors.New("neither XDG_CONFIG_HOME nor HOME is set")
	}
	stored, err := c.readTokens()
	if err != nil {
		return err
	}
	stored[server] = token
	text, err := encodeJSON(stored)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	draft, err := os.CreateTemp(filepath.Dir(path), "tokens-*") // only this user can read the file
	if err != nil {
		return err
	}
	_, written := draft.Write(text)
	if err := errors.Join(written, draft.Close()); err != nil {
		return errors.Join(err, os.Remove(draft.Name()))
	}
	return os.Rename(draft.Name(), path)
}
