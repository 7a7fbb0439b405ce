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

func (c *command) keys() *cobra.Command {
	return group("keys", "Look after a business's API keys", c.createKey(), c.listKeys(), c.revokeKey())
}

func (c *command) createKey() *cobra.Command {
	var name, scope, expires string
	cmd := c.ofBusiness("create SLUG --name NAME --scope read|write|all", "Make an API key and show it, this once", 1,
		func(cmd *cobra.Command, args []string, client *client) error {
			wanted, err := newKey(name, scope, expires)
			if err != nil {
				return err
			}
			var key createdKey
			if err := client.call(cmd.Context(), http.MethodPost, at(args[0], "keys"), wanted, &key); err != nil {
				return err
			}
			return c.print(key, table{
				head: []string{"KEY", "SCOPE", "NAME", "EXPIRES", "ID"},
				rows: [][]string{{key.Key, key.Scope, key.Name, instant(key.ExpiresAt), key.ID.String()}},
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

func (c *command) listKeys() *cobra.Command {
	return c.ofBusiness("list SLUG", "List a business's keys, revoked ones included", 1,
		func(cmd *cobra.Command, args []string, client *client) error {
			list, err := pages[booking.Key](cmd.Context(), client, at(args[0], "keys"), "keys", url.Values{})
			if err != nil {
				return err
			}
			t := table{head: []string{"ID", "PREFIX", "SCOPE", "NAME", "CREATED", "EXPIRES", "LAST USED", "REVOKED"}}
			for _, k := range list {
				t.rows = append(t.rows, []string{k.ID.String(), k.Prefix, k.Scope, k.Name,
					instant(&k.CreatedAt), instant(k.ExpiresAt), instant(k.LastUsedAt), instant(k.RevokedAt)})
			}
			return c.print(booking.KeyList{Keys: list}, t)
		})
}

func (c *command) revokeKey() *cobra.Command {
	return c.ofBusiness("revoke SLUG ID", "End a key at once", 2,
		func(cmd *cobra.Command, args []string, client *client) error {
			if err := client.call(cmd.Context(), http.MethodDelete, at(args[0], "keys", args[1]), nil,
				nil); err != nil {
				return err
			}
			return c.done(map[string]any{"id": args[1], "revoked": true}, "%s is revoked", args[1])
		})
}
