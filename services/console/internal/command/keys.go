package command

import (
	"errors"
	"net/http"
	"net/url"
	"time"

	"github.com/google/uuid"
	"github.com/spf13/cobra"

	"github.com/slotmesh/slotmesh/libs/contracts/booking"
)

func (c *command) newKeysGroup() *cobra.Command {
	return newGroup("keys", "Look after a business's API keys", c.newCreateKeyCommand(), c.newListKeysCommand(),
		c.newRevokeKeyCommand())
}

func (c *command) newCreateKeyCommand() *cobra.Command {
	var name, scope, expires string
	cmd := c.newBusinessCommand("create SLUG --name NAME --scope read|write|all",
		"Make an API key and show it, this once", 1,
		func(cmd *cobra.Command, args []string, client *client) error {
			wanted, err := newKey(name, scope, expires)
			if err != nil {
				return err
			}
			var key createdKey
			if err := client.call(cmd.Context(), http.MethodPost, buildPath(args[0], "keys"), wanted,
				&key); err != nil {
				return err
			}
			return c.print(key, table{
				head: []string{"KEY", "SCOPE", "NAME", "EXPIRES", "ID"},
				rows: [][]string{{key.Key, key.Scope, key.Name, formatInstant(key.ExpiresAt), key.ID.String()}},
			})
		})
	cmd.Flags().StringVar(&name, "name", "", "what the key is for")
	cmd.Flags().StringVar(&scope, "scope", "", "what it may do: read, write or all")
	cmd.Flags().StringVar(&expires, "expires-at", "",
		"until when, such as 2027-03-01T09:00:00Z; left out, it does not expire")
	mustComplete(cmd, "scope", booking.ScopeRead, booking.ScopeWrite, booking.ScopeAll)
	return cmd
}

func newKey(name, scope, expires string) (*booking.NewKey, error) {
	if name == "" {
		return nil, errors.New("--name: missing; say what the key is for")
	}
	if scope == "" {
		return nil, errors.New("--scope: missing; write read, write or all")
	}
	key := &booking.NewKey{Name: name, Scope: scope}
	if expires == "" {
		return key, nil
	}
	at, err := time.Parse(time.RFC3339, expires)
	if err != nil {
		return nil, errors.New("--expires-at: not an instant; write one such as 2027-03-01T09:00:00Z")
	}
	key.ExpiresAt = &at
	return key, nil
}

// createdKey is the output of the command for a new key. It has no fields for the last use and the revocation, because
// a new key is neither used nor revoked.
type createdKey struct {
	ID        uuid.UUID  `json:"id"`
	Name      string     `json:"name"`
	Scope     string     `json:"scope"`
	Key       string     `json:"key"`
	Prefix    string     `json:"prefix"`
	CreatedAt time.Time  `json:"created_at"`
	ExpiresAt *time.Time `json:"expires_at"`
}

func (c *command) newListKeysCommand() *cobra.Command {
	return c.newBusinessCommand("list SLUG", "List a business's keys, revoked ones included", 1,
		func(cmd *cobra.Command, args []string, client *client) error {
			list, err := readPages[booking.Key](cmd.Context(), client, buildPath(args[0], "keys"), "keys", url.Values{})
			if err != nil {
				return err
			}
			t := table{head: []string{"ID", "PREFIX", "SCOPE", "NAME", "CREATED", "EXPIRES", "LAST USED", "REVOKED"}}
			for _, k := range list {
				t.rows = append(t.rows, []string{k.ID.String(), k.Prefix, k.Scope, k.Name,
					formatInstant(&k.CreatedAt), formatInstant(k.ExpiresAt), formatInstant(k.LastUsedAt),
					formatInstant(k.RevokedAt)})
			}
			return c.print(booking.KeyList{Keys: list}, t)
		})
}

func (c *command) newRevokeKeyCommand() *cobra.Command {
	return c.newBusinessCommand("revoke SLUG ID", "End a key at once", 2,
		func(cmd *cobra.Command, args []string, client *client) error {
			if err := client.call(cmd.Context(), http.MethodDelete, buildPath(args[0], "keys", args[1]), nil,
				nil); err != nil {
				return err
			}
			return c.printDone(map[string]any{"id": args[1], "revoked": true}, "%s is revoked", args[1])
		})
}
