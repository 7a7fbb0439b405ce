package command

import (
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/google/uuid"
	"github.com/spf13/cobra"
)

func (c *command) newOperatorsGroup() *cobra.Command {
	return newGroup("operators", "Look after the operators of the platform",
		c.newListOperatorsCommand(),
		c.newChangeOperatorCommand("demote", "Take the right of an operator away, and sign them out", http.MethodDelete,
			"",
			"demoted"),
		c.newChangeOperatorCommand("sign-out", "Sign an operator out everywhere", http.MethodPost, "/sign-out",
			"signed_out"))
}

// operator is the JSON of an operator in the server's answers. The field Until is the time at which the person stops
// being an operator. It is set only if a group of the identity provider made the person an operator.
type operator struct {
	ID         uuid.UUID  `json:"id"`
	Email      string     `json:"email"`
	Name       string     `json:"name"`
	Verified   bool       `json:"verified"`
	Sessions   int        `json:"sessions"`
	LastSeenAt *time.Time `json:"last_seen_at"`
	Until      *time.Time `json:"until"`
	CreatedAt  time.Time  `json:"created_at"`
}

func (c *command) newListOperatorsCommand() *cobra.Command {
	return &cobra.Command{
		Use: "list", Short: "List the operators of the platform", Args: cobra.NoArgs,
		RunE: c.withClient(func(cmd *cobra.Command, _ []string, client *client) error {
			list, err := readPages[operator](cmd.Context(), client, "/admin/operators", "operators", url.Values{})
			if err != nil {
				return err
			}
			t := table{head: []string{"ID", "EMAIL", "NAME", "SESSIONS", "LAST SEEN", "UNTIL"}}
			for _, o := range list {
				t.rows = append(t.rows, []string{o.ID.String(), o.Email, o.Name, strconv.Itoa(o.Sessions),
					formatInstant(o.LastSeenAt), formatInstant(o.Until)})
			}
			return c.print(map[string]any{"operators": list}, t)
		}),
	}
}

// newChangeOperatorCommand returns a command that changes one operator. The argument of the command is the id of the
// operator.
func (c *command) newChangeOperatorCommand(name, short, method, path, done string) *cobra.Command {
	return &cobra.Command{
		Use: name + " ID", Short: short, Args: cobra.ExactArgs(1),
		RunE: c.withClient(func(cmd *cobra.Command, args []string, client *client) error {
			if err := client.call(cmd.Context(), method, "/admin/operators/"+url.PathEscape(args[0])+path, nil,
				nil); err != nil {
				return err
			}
			return c.printDone(map[string]any{"id": args[0], done: true}, "%s: done", args[0])
		}),
	}
}
