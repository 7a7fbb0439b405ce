package identity

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/contracts/catalog"
	"github.com/slotmesh/slotmesh/libs/contracts/customer"
	"github.com/slotmesh/slotmesh/libs/platform/request"
	"github.com/slotmesh/slotmesh/libs/values/fault"
	"github.com/slotmesh/slotmesh/services/console/internal/identity/access"
	"github.com/slotmesh/slotmesh/services/console/internal/identity/store"
)

// Invitation has the data with which a principal invites a person into a business, or to become an operator.
type Invitation struct {
	Email    string
	Name     string // if "", the address is also the name
	Role     access.Role
	StaffID  *uuid.UUID // id of the staff member in the offer, for the role staff
	IsSilent bool       // true: the server sends no mail, because the inviter informs the person

	Locations []uuid.UUID // ids of the locations to which the person is limited; empty: all locations
}

// Invited is the result of an invitation. Link is the path of a page that signs the person in once. Link is "" if the
// inviter must not see a link of the person, or if the invitation is pending.
type Invited struct {
	ID        uuid.UUID // id of the person, or of the invitation while it is pending
	Email     string
	Role      access.Role
	IsPending bool // true: the person has an account and must accept
	Link      string
	ExpiresAt *time.Time // expiry of the link, or of the pending invitation
	IsMailed  bool       // true: the mail server accepted the mail of the invitation; the mail has another link
}

// LinkPath returns the path of the page on which a person signs in with a link. The argument `secret` is the secret of
// the link.
func LinkPath(secret string) string { return "/sign-in/link/" + secret }

// Invite invites a person into a business and sends a mail. The person becomes a member at once if the inviter is an
// operator. A person whose address is not verified also becomes a member at once, if the inviter manages the teams of
// all the person's businesses. Every other person becomes a member when they accept the invitation; until then the
// business sees only the person's e-mail address. Faults: invalid_parameter; conflict for a member with another role.
func (a *Accounts) Invite(ctx context.Context, by Principal, business *catalog.Snapshot,
	wanted Invitation) (*Invited, error) {
	if err := by.Require(business.ID, access.ManageTeam); err != nil {
		return nil, err
	}
	m, err := buildMember(business, wanted.Role, wanted.StaffID)
	if err == nil {
		m.Locations, err = checkLocations(business, wanted.Role, wanted.Locations, nil)
	}
	if err != nil {
		return nil, err
	}
	person, err := a.findOrAddPerson(ctx, by, business.ID, wanted)
	if err != nil {
		return nil, err
	}
	if !by.IsOperator {
		if err := a.Limits.CountBusinessInvitation(ctx, business.ID); err != nil {
			return nil, err
		}
	}
	pending, err := a.Store.Invite(ctx, by, person.ID, m, a.Clock.Now(),
		func(by Principal, p store.Person, members []access.Member) bool {
			return !by.IsOperator && (p.IsVerified || !managesAll(by, p, members))
		})
	if err != nil {
		return nil, toMemberFault(err)
	}
	if pending.ID != uuid.Nil {
		a.logChange(ctx, by, "invite", slog.String("slug", business.Slug),
			slog.String("invitation_id", pending.ID.String()), slog.String("role", string(m.Role)))
		invitation := &Invited{ID: pending.ID, Email: pending.Email, Role: m.Role, IsPending: true,
			ExpiresAt: &pending.ExpiresAt}
		invitation.IsMailed = !wanted.IsSilent && a.mailInvitation(ctx, by, business.ID, person, pending.ID,
			cmp.Or(business.Name, business.Slug), business.DefaultLanguage)
		return invitation, nil
	}
	a.logChange(ctx, by, "invite", slog.String("slug", business.Slug), slog.String("person_id", person.ID.String()),
		slog.String("role", string(m.Role)))
	invitation, err := a.newInvited(ctx, by, business.ID, person, m.Role)
	if err == nil && !wanted.IsSilent {
		invitation.IsMailed = a.mailInvitation(ctx, by, business.ID, person, uuid.Nil,
			cmp.Or(business.Name, business.Slug),
			business.DefaultLanguage)
	}
	return invitation, err
}

// InviteOperator makes a person an operator, with rights in all businesses, and sends a mail. The argument `by` is the
// inviter. Faults: invalid_parameter; forbidden if the inviter is not an operator.
func (a *Accounts) InviteOperator(ctx context.Context, by Principal, wanted Invitation) (*Invited, error) {
	if !by.IsOperator {
		return nil, fault.New(fault.Forbidden, "Only operators make operators.")
	}
	if wanted.StaffID != nil {
		return nil, request.Invalid("staff_id: an operator is in no business; leave it out.")
	}
	if len(wanted.Locations) > 0 {
		return nil, request.Invalid("locations: an operator is in no business; leave it out.")
	}
	person, err := a.findOrAddPerson(ctx, by, uuid.Nil, wanted)
	if err != nil {
		return nil, err
	}
	if err := a.Store.MakeOperator(ctx, by, person.ID, a.Clock.Now()); err != nil {
		return nil, err
	}
	a.logChange(ctx, by, "invite operator", slog.String("person_id", person.ID.String()))
	invitation, err := a.newInvited(ctx, by, uuid.Nil, person, access.Operator)
	if err == nil && !wanted.IsSilent {
		invitation.IsMailed = a.mailInvitation(ctx, by, uuid.Nil, person, uuid.Nil, "", "")
	}
	return invitation, err
}

// findOrAddPerson returns the stored person with the address in `invitation`. If no such person is stored, it adds one.
func (a *Accounts) findOrAddPerson(ctx context.Context, by Principal, businessID uuid.UUID,
	invitation Invitation) (store.Person, error) {
	address, err := customer.Check(invitation.Email)
	if err != nil {
		return store.Person{}, err
	}
	const longest = 200
	name := address
	if invitation.Name != "" {
		if name, err = request.Line("name", invitation.Name, longest); err != nil {
			return store.Person{}, err
		}
	}
	return a.Store.AddPerson(ctx, by, businessID, store.Person{ID: uuid.New(), Email: strings.ToLower(address),
		Name: name, CreatedAt: a.Clock.Now()})
}

// buildMember checks the role and the staff id of a new member, and returns the membership. Fault: invalid_parameter.
func buildMember(business *catalog.Snapshot, role access.Role, staffID *uuid.UUID) (access.Member, error) {
	m := access.Member{BusinessID: business.ID, Role: role}
	switch {
	case !role.IsBusinessRole():
		return m, request.Invalid("role: send owner, manager, desk, staff or viewer.")
	case role != access.Staff && staffID != nil:
		return m, request.Invalid("staff_id: only the role staff has one; leave it out.")
	case role != access.Staff:
		return m, nil
	case staffID == nil || !slices.ContainsFunc(business.Staff, func(s catalog.Staff) bool { return s.ID == *staffID }):
		return m, request.Invalid("staff_id: send the id of a member of the business's staff, whose calendar it is.")
	}
	m.StaffID = *staffID
	return m, nil
}

// checkLocations checks the locations to which a member is limited, and returns them sorted. The argument `current` has
// the member's locations before the change, which may contain ids of removed locations. Fault: invalid_parameter.
func checkLocations(business *catalog.Snapshot, role access.Role, ids, current []uuid.UUID) ([]uuid.UUID, error) {
	if role == access.Owner && len(ids) > 0 {
		return nil, request.Invalid("locations: an owner is not limited to locations; leave it out.")
	}
	for _, id := range ids {
		if business.FindLocation(id) == nil && !slices.Contains(current, id) {
			return nil, request.Invalid("locations: %s is no location of the business; send ids of its locations.", id)
		}
	}
	sorted := slices.SortedFunc(slices.Values(ids), func(a, b uuid.UUID) int { return bytes.Compare(a[:], b[:]) })
	return slices.Compact(sorted), nil
}

// managesAll reports whether the principal manages the team of every business to which the person belongs. Only an
// operator manages an operator.
func managesAll(by Principal, person store.Person, members []access.Member) bool {
	return by.IsOperator || !person.IsOperator && by.ManagesTeams(members)
}

func toMemberFault(err error) error {
	switch {
	case errors.Is(err, store.ErrAlreadyMember):
		return fault.Wrap(fault.Conflict, err,
			"email: this person is a member already, with another role; change that instead.")
	case errors.Is(err, store.ErrTooManyBusinesses):
		return fault.Wrap(fault.Conflict, err,
			fmt.Sprintf("email: this person belongs to %d businesses, which is the most.", catalog.MaxListed))
	case errors.Is(err, store.ErrTooManyInvitations):
		return fault.Wrap(fault.Conflict, err,
			"email: this business has 200 open invitations, which is the most; withdraw some first.")
	}
	return err
}

// newInvited returns the result of an invitation. The result has a link to sign in if the principal may see this link.
// An operator may see the link of every person. An owner may see only the link of a person who is not verified, and who
// belongs only to businesses whose teams the owner manages.
func (a *Accounts) newInvited(ctx context.Context, by Principal, businessID uuid.UUID, person store.Person,
	role access.Role) (*Invited, error) {
	invitation := &Invited{ID: person.ID, Email: person.Email, Role: role}
	link := store.Link{PersonID: person.ID, Purpose: store.PurposeSignIn}
	clear, expires, err := a.makeLink(link, LinkLifetime, func(l store.Link, hash [32]byte) error {
		return a.Store.AddSharedLink(ctx, by, businessID, l, hash)
	})
	if errors.Is(err, store.ErrKnownElsewhere) {
		return invitation, nil
	}
	if err != nil {
		// The person is already invited. The caller can repeat the request to get the link.
		return nil, fault.Unknown(fmt.Errorf("a person was invited, but has no link: %w", err))
	}
	invitation.Link, invitation.ExpiresAt = LinkPath(clear), &expires
	return invitation, nil
}

// logChange logs a change and the principal who made it.
func (a *Accounts) logChange(ctx context.Context, by Principal, change string, attrs ...slog.Attr) {
	attrs = append([]slog.Attr{slog.String("change", change), slog.String("by", by.String())}, attrs...)
	a.Logger.LogAttrs(ctx, slog.LevelInfo, "admin change", attrs...)
}
