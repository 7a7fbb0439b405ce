package command

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/spf13/cobra"

	"github.com/slotmesh/slotmesh/libs/contracts/booking"
	"github.com/slotmesh/slotmesh/libs/contracts/notifications"
)

// roles are the roles that the commands accept for people and tokens.
var roles = []string{"owner", "manager", "desk", "staff", "viewer", "operator"}

func (c *command) newUsersGroup() *cobra.Command {
	return newGroup("users", "Look after who belongs to a business", c.newInviteCommand(), c.newListUsersCommand(),
		c.newListInvitationsCommand(),
		c.newWithdrawInvitationCommand(), c.newListCredentialsCommand(), c.newRevokeCredentialsCommand(),
		c.newChangeUserCommand(), c.newRemoveUserCommand())
}

// invitation is the body of a request that invites a person.
type invitation struct {
	Business string  `json:"business,omitempty"`
	Email    string  `json:"email"`
	Name     string  `json:"name,omitempty"`
	Role     string  `json:"role"`
	StaffID  *string `json:"staff_id,omitempty"`
	Mail     bool    `json:"mail"`

	Locations []string `json:"locations,omitempty"`
}

// inviteAnswer is the server's answer to an invitation. The field Link has a path in the server's answer; the command
// completes this path to a URL.
type inviteAnswer struct {
	PersonID  *uuid.UUID `json:"person_id"`
	Pending   *uuid.UUID `json:"invitation_id"`
	Email     string     `json:"email"`
	Role      string     `json:"role"`
	Link      *string    `json:"link"`
	OwnerURL  *string    `json:"owner_url"`
	ExpiresAt *time.Time `json:"expires_at"`
	Mailed    bool       `json:"mailed"`
}

func (c *command) newInviteCommand() *cobra.Command {
	var wanted invitation
	var staff string
	var unsaid bool
	cmd := &cobra.Command{
		Use:   "invite [SLUG] --email ADDRESS --role ROLE",
		Short: "Invite somebody, and show a link that signs them in once", Args: cobra.MaximumNArgs(1),
		Long: "invite makes somebody a member of a business, or, with --role operator and no SLUG, an operator of " +
			"the platform, and mails them an invitation. The link is another way in, for you to hand on; MAILED says " +
			"whether the mail server has taken the invitation. A person whom the platform knows joins by accepting: " +
			"there is no link, and ID is that of the invitation.",
		ValidArgsFunction: c.completeSlug,
	}
	cmd.RunE = c.withClient(func(cmd *cobra.Command, args []string, client *client) error {
		if wanted.Email == "" || wanted.Role == "" {
			return errors.New("--email and --role: say whom to invite, and as what")
		}
		if err := client.newNameResolver(strings.Join(args, "")).resolve(cmd.Context(), kindMember,
			&staff); err != nil {
			return err
		}
		if err := client.newNameResolver(strings.Join(args, "")).resolveLocations(cmd.Context(),
			wanted.Locations); err != nil {
			return err
		}
		wanted.Business, wanted.StaffID, wanted.Mail = strings.Join(args, ""), toOptional(staff), !unsaid
		var made inviteAnswer
		if err := client.call(cmd.Context(), http.MethodPost, "/admin/invitations", wanted, &made); err != nil {
			return err
		}
		link := "-"
		if made.Link != nil {
			base := client.Base
			if made.OwnerURL != nil {
				base = *made.OwnerURL
			}
			link = base + *made.Link
			made.Link = &link
		}
		return c.print(made, table{
			head: []string{"LINK", "UNTIL", "EMAIL", "ROLE", "MAILED", "ID"},
			rows: [][]string{{link, formatInstant(made.ExpiresAt), made.Email, made.Role, formatYes(made.Mailed),
				cmp.Or(made.PersonID, made.Pending, &uuid.Nil).String()}},
		})
	})
	cmd.Flags().StringVar(&wanted.Email, "email", "", "whom to invite")
	cmd.Flags().StringVar(&wanted.Name, "name", "", "what they are called; left out, the address")
	cmd.Flags().BoolVar(&unsaid, "no-mail", false, "mail nothing; you hand the link on")
	addRoleFlags(cmd, &wanted.Role, &staff)
	addLocationFlag(cmd, &wanted.Locations)
	return cmd
}

// addRoleFlags adds the flags that set the role of a person or a token in a business.
func addRoleFlags(cmd *cobra.Command, role, staff *string) {
	cmd.Flags().StringVar(role, "role", "", strings.Join(roles, ", "))
	cmd.Flags().StringVar(staff, "staff", "", "key, name or id of the member of the staff; for --role staff")
	mustComplete(cmd, "role", roles...)
}

// addLocationFlag adds the flag that limits a person to locations.
func addLocationFlag(cmd *cobra.Command, locations *[]string) {
	cmd.Flags().StringArrayVar(locations, "location", nil,
		"key, name or id of a location whose bookings alone they see; repeat it for several")
}

// resolveLocations replaces the keys and names of locations by their ids.
func (n *nameResolver) resolveLocations(ctx context.Context, locations []string) error {
	for i := range locations {
		if err := n.resolveAmong(ctx, "location", (*contents).listLocations, &locations[i]); err != nil {
			return err
		}
	}
	return nil
}

func toOptional(text string) *string {
	if text == "" {
		return nil
	}
	return &text
}

// user is a member of a business.
type user struct {
	ID       uuid.UUID  `json:"id"`
	Email    string     `json:"email"`
	Name     string     `json:"name"`
	Role     string     `json:"role"`
	StaffID  *uuid.UUID `json:"staff_id"`
	Verified bool       `json:"verified"`
	JoinedAt time.Time  `json:"joined_at"`

	Locations []uuid.UUID `json:"locations,omitempty"`
}

func newUserTable(list ...user) table {
	t := table{head: []string{"ID", "EMAIL", "NAME", "ROLE", "JOINED"}}
	for _, u := range list {
		t.rows = append(t.rows, []string{u.ID.String(), u.Email, u.Name, u.Role, formatInstant(&u.JoinedAt)})
	}
	return t
}

func (c *command) newListUsersCommand() *cobra.Command {
	return newListEntriesCommand(c, "members", "List who belongs to a business", nil, func(list []user) any {
		return map[string]any{"members": list}
	}, newUserTable)
}

// pendingInvitation is an invitation that the invited person has not accepted yet.
type pendingInvitation struct {
	ID        uuid.UUID  `json:"id"`
	Email     string     `json:"email"`
	Role      string     `json:"role"`
	StaffID   *uuid.UUID `json:"staff_id"`
	CreatedAt time.Time  `json:"created_at"`
	ExpiresAt time.Time  `json:"expires_at"`

	Locations []uuid.UUID `json:"locations,omitempty"`
}

func (c *command) newListInvitationsCommand() *cobra.Command {
	return c.newBusinessCommand("invitations SLUG", "List the invitations that were not accepted yet", 1,
		func(cmd *cobra.Command, args []string, client *client) error {
			var list struct {
				Invitations []pendingInvitation `json:"invitations"`
			}
			if err := client.call(cmd.Context(), http.MethodGet, buildPath(args[0], "invitations"), nil,
				&list); err != nil {
				return err
			}
			t := table{head: []string{"ID", "EMAIL", "ROLE", "UNTIL"}}
			for _, i := range list.Invitations {
				t.rows = append(t.rows, []string{i.ID.String(), i.Email, i.Role, formatInstant(&i.ExpiresAt)})
			}
			return c.print(list, t)
		})
}

func (c *command) newWithdrawInvitationCommand() *cobra.Command {
	return c.newBusinessCommand("withdraw SLUG ID", "Withdraw an invitation", 2,
		func(cmd *cobra.Command, args []string, client *client) error {
			if err := client.call(cmd.Context(), http.MethodDelete, buildPath(args[0], "invitations", args[1]), nil,
				nil); err != nil {
				return err
			}
			return c.printDone(map[string]any{"id": args[1], "withdrawn": true}, "%s is withdrawn", args[1])
		})
}

func (c *command) newChangeUserCommand() *cobra.Command {
	var role, staff string
	var locations []string
	var isEverywhere bool
	cmd := c.newBusinessCommand("role SLUG ID --role ROLE", "Change the role or the locations of a member at once", 2,
		func(cmd *cobra.Command, args []string, client *client) error {
			if role == "" {
				return errors.New("--role: missing; say what they are to be")
			}
			if err := client.newNameResolver(args[0]).resolve(cmd.Context(), kindMember, &staff); err != nil {
				return err
			}
			if err := client.newNameResolver(args[0]).resolveLocations(cmd.Context(), locations); err != nil {
				return err
			}
			var changed user
			to := map[string]any{"role": role, "staff_id": toOptional(staff)}
			if len(locations) > 0 {
				to["locations"] = locations
			} else if isEverywhere {
				to["locations"] = []string{}
			}
			if err := client.call(cmd.Context(), http.MethodPatch, buildPath(args[0], "members", args[1]), to,
				&changed); err != nil {
				return err
			}
			return c.print(changed, newUserTable(changed))
		})
	addRoleFlags(cmd, &role, &staff)
	addLocationFlag(cmd, &locations)
	cmd.Flags().BoolVar(&isEverywhere, "all-locations", false, "they see the bookings at all locations")
	cmd.MarkFlagsMutuallyExclusive("location", "all-locations")
	return cmd
}

func (c *command) newListCredentialsCommand() *cobra.Command {
	return c.newBusinessCommand("made SLUG ID", "List what a person made in a business, also after they left it", 2,
		func(cmd *cobra.Command, args []string, client *client) error {
			var created struct {
				Keys      []booking.Key           `json:"keys"`
				Calendars []booking.Calendar      `json:"calendars"`
				Webhooks  []notifications.Webhook `json:"webhooks"`
				Tokens    []apiToken              `json:"tokens"`
			}
			if err := client.call(cmd.Context(), http.MethodGet, buildPath(args[0], "members", args[1], "made"), nil,
				&created); err != nil {
				return err
			}
			t := table{head: []string{"KIND", "ID", "WHAT", "CREATED"}}
			row := func(kind string, id uuid.UUID, label string, created time.Time) {
				t.rows = append(t.rows, []string{kind, id.String(), label, formatInstant(&created)})
			}
			for _, k := range created.Keys {
				row("key", k.ID, k.Name, k.CreatedAt)
			}
			for _, f := range created.Calendars {
				row("calendar", f.ID, f.Shows, f.CreatedAt)
			}
			for _, w := range created.Webhooks {
				row("webhook", w.ID, w.URL, w.CreatedAt)
			}
			for _, k := range created.Tokens {
				row("token", k.ID, k.Name, k.CreatedAt)
			}
			return c.print(created, t)
		})
}

func (c *command) newRevokeCredentialsCommand() *cobra.Command {
	return c.newBusinessCommand("end-made SLUG ID", "End all that a person made in a business", 2,
		func(cmd *cobra.Command, args []string, client *client) error {
			if err := client.call(cmd.Context(), http.MethodDelete, buildPath(args[0], "members", args[1], "made"), nil,
				nil); err != nil {
				return err
			}
			return c.printDone(map[string]any{"id": args[1], "ended": true}, "all that %s made has ended", args[1])
		})
}

func (c *command) newRemoveUserCommand() *cobra.Command {
	return c.newBusinessCommand("remove SLUG ID", "Take somebody out of a business, at once", 2,
		func(cmd *cobra.Command, args []string, client *client) error {
			if err := client.call(cmd.Context(), http.MethodDelete, buildPath(args[0], "members", args[1]), nil,
				nil); err != nil {
				return err
			}
			return c.printDone(map[string]any{"id": args[1], "removed": true}, "%s is removed", args[1])
		})
}
