package command

import (
	"errors"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/spf13/cobra"
)

func (c *command) newTokensGroup() *cobra.Command {
	return newGroup("tokens", "Look after tokens of the admin API", c.newCreateTokenCommand(), c.newListTokensCommand(),
		c.newRevokeTokenCommand())
}

// apiToken is the JSON of a token of the admin API in the server's answers. The field Token, the secret, is set only in
// the answer to the request that created the token.
type apiToken struct {
	ID         uuid.UUID  `json:"id"`
	Name       string     `json:"name"`
	BusinessID *uuid.UUID `json:"business_id"`
	Role       string     `json:"role"`
	StaffID    *uuid.UUID `json:"staff_id"`
	Token      string     `json:"token,omitempty"`
	Prefix     string     `json:"prefix"`
	CreatedAt  time.Time  `json:"created_at"`
	ExpiresAt  *time.Time `json:"expires_at"`
	LastUsedAt *time.Time `json:"last_used_at"`
	RevokedAt  *time.Time `json:"revoked_at"`
}

func (c *command) newCreateTokenCommand() *cobra.Command {
	var role, staff, name, expires string
	cmd := &cobra.Command{
		Use: "create [SLUG] --name NAME --role ROLE", Short: "Make a token and show it, this once",
		Args: cobra.MaximumNArgs(1), ValidArgsFunction: c.completeSlug,
		Long: "create makes a token with a role in a business, or, with --role operator and no SLUG, an operator's.",
	}
	cmd.RunE = c.withClient(func(cmd *cobra.Command, args []string, client *client) error {
		if name == "" || role == "" {
			return errors.New("--name and --role: say what the token is for, and what it may do")
		}
		if err := client.newNameResolver(strings.Join(args, "")).resolve(cmd.Context(), kindMember,
			&staff); err != nil {
			return err
		}
		wanted := map[string]any{"name": name, "role": role, "business": strings.Join(args, ""),
			"staff_id": toOptional(staff), "expires_at": toOptional(expires)}
		var made apiToken
		if err := client.call(cmd.Context(), http.MethodPost, "/admin/tokens", wanted, &made); err != nil {
			return err
		}
		return c.print(made, table{
			head: []string{"TOKEN", "ROLE", "NAME", "EXPIRES", "ID"},
			rows: [][]string{{made.Token, made.Role, made.Name, formatInstant(made.ExpiresAt), made.ID.String()}},
		})
	})
	addRoleFlags(cmd, &role, &staff)
	cmd.Flags().StringVar(&name, "name", "", "what the token is for")
	cmd.Flags().StringVar(&expires, "expires-at", "",
		"until when, such as 2027-03-01T09:00:00Z; left out, it does not expire")
	return cmd
}

func (c *command) newListTokensCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "list [SLUG]", Short: "List the tokens of a business, or all that you may revoke",
		Args: cobra.MaximumNArgs(1), ValidArgsFunction: c.completeSlug,
	}
	cmd.RunE = c.withClient(func(cmd *cobra.Command, args []string, client *client) error {
		query := url.Values{}
		if len(args) == 1 {
			query.Set("business", args[0])
		}
		list, err := readPages[apiToken](cmd.Context(), client, "/admin/tokens", "tokens", query)
		if err != nil {
			return err
		}
		t := table{head: []string{"ID", "PREFIX", "ROLE", "NAME", "CREATED", "EXPIRES", "LAST USED", "REVOKED"}}
		for _, k := range list {
			t.rows = append(t.rows, []string{k.ID.String(), k.Prefix, k.Role, k.Name, formatInstant(&k.CreatedAt),
				formatInstant(k.ExpiresAt), formatInstant(k.LastUsedAt), formatInstant(k.RevokedAt)})
		}
		return c.print(map[string]any{"tokens": list}, t)
	})
	return cmd
}

func (c *command) newRevokeTokenCommand() *cobra.Command {
	return &cobra.Command{
		Use: "revoke ID", Short: "End a token, and those that were made with it, at once", Args: cobra.ExactArgs(1),
		RunE: c.withClient(func(cmd *cobra.Command, args []string, client *client) error {
			if err := client.call(cmd.Context(), http.MethodDelete, "/admin/tokens/"+url.PathEscape(args[0]), nil,
				nil); err != nil {
				return err
			}
			return c.printDone(map[string]any{"id": args[0], "revoked": true}, "%s is revoked", args[0])
		}),
	}
}
