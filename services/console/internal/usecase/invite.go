package usecase

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/fault"
	"github.com/slotmesh/slotmesh/libs/peer/catalog"
	"github.com/slotmesh/slotmesh/libs/peer/customer"
	"github.com/slotmesh/slotmesh/libs/request"
	"github.com/slotmesh/slotmesh/services/console/internal/access"
	"github.com/slotmesh/slotmesh/services/console/internal/store"
)

// Invitation asks somebody into a business, or among the operators of the platform.
type Invitation struct {
	Email   string
	Name    string // "": the address
	Role    access.Role
	StaffID *uuid.UUID // for the role staff
	Unsaid  bool       // nothing is mailed: the inviter tells them
}

// Invited is somebody who was invited. Link is the path of a page that signs them in once, below the address of the owner's side; "" where
// they know how to sign in, and only they may.
type Invited struct {
	PersonID  uuid.UUID
	Email     string
	Role      access.Role
	Link      string
	ExpiresAt *time.Time // of the link
	Mailed    bool       // the mail server has taken an invitation, with a link of its own
}

// ErrUnconfirmed says that another business has invited an address of which nobody knows yet whose it is.
var ErrUnconfirmed = errors.New("is not confirmed, and another business's")

// LinkPath is where a link of this secret is opened.
func LinkPath(secret string) string { return "/sign-in/link/" + secret }

// Invite makes somebody a member of a business, mails them an invitation and gives a link by which they sign in. An operator gets one for anybody, and vouches that it
// goes to whom the address belongs. An owner gets one for whoever was not vouched for, who belongs to their businesses alone: as anybody else
// they would sign in to what is not theirs. Faults: invalid_parameter; conflict for a member with another role, and for an address that
// another business has invited and nobody has vouched for.
func (a *Accounts) Invite(ctx context.Context, by Principal, business *catalog.Offer, wanted Invitation) (*Invited, error) {
	if err := by.Require(business.ID, access.ManageTeam); err != nil {
		return nil, err
	}
	m, err := memberOf(business, wanted.Role, wanted.StaffID)
	if err != nil {
		return nil, err
	}
	person, err := a.person(ctx, wanted)
	if err != nil {
		return nil, err
	}
	err = a.Store.AddMember(ctx, person.ID, m, a.Clock.Now(), func(p store.Person, known []access.Member) error {
		if p.Verified || managesAll(by, p, known) {
			return nil
		}
		return fault.Wrap(fault.Conflict, ErrUnconfirmed, "email: another business has invited this address, and nobody has confirmed yet whose it is; ask the platform's operator for a sign-in link to it.")
	})
	if err != nil {
		return nil, memberFault(err)
	}
	a.changed(ctx, by, "invite", slog.String("slug", business.Slug), slog.String("person_id", person.ID.String()), slog.String("role", string(m.Role)))
	invited, err := a.invited(ctx, by, person, m.Role)
	if err == nil && !wanted.Unsaid {
		invited.Mailed = a.mailInvitation(ctx, person, cmp.Or(business.Name, business.Slug), business.DefaultLanguage)
	}
	return invited, err
}

// InviteOperator makes somebody an operator of the platform. Faults: invalid_parameter; forbidden to who is none.
func (a *Accounts) InviteOperator(ctx context.Context, by Principal, wanted Invitation) (*Invited, error) {
	if !by.Operator {
		return nil, fault.New(fault.Forbidden, "Only operators make operators.")
	}
	if wanted.StaffID != nil {
		return nil, request.Invalid("staff_id: an operator is in no business; leave it out.")
	}
	person, err := a.person(ctx, wanted)
	if err != nil {
		return nil, err
	}
	if err := a.Store.MakeOperator(ctx, person.ID); err != nil {
		return nil, err
	}
	a.changed(ctx, by, "invite operator", slog.String("person_id", person.ID.String()))
	invited, err := a.invited(ctx, by, person, access.Operator)
	if err == nil && !wanted.Unsaid {
		invited.Mailed = a.mailInvitation(ctx, person, "", "")
	}
	return invited, err
}

// person returns who has the address, new or known.
func (a *Accounts) person(ctx context.Context, wanted Invitation) (store.Person, error) {
	address, err := customer.Check(wanted.Email)
	if err != nil {
		return store.Person{}, err
	}
	const longest = 200
	name := address
	if wanted.Name != "" {
		if name, err = request.Line("name", wanted.Name, longest); err != nil {
			return store.Person{}, err
		}
	}
	return a.Store.AddPerson(ctx, store.Person{ID: uuid.New(), Email: strings.ToLower(address), Name: name, CreatedAt: a.Clock.Now()})
}

// memberOf says what somebody is to be in a business. Fault: invalid_parameter.
func memberOf(business *catalog.Offer, role access.Role, staffID *uuid.UUID) (access.Member, error) {
	m := access.Member{BusinessID: business.ID, Role: role}
	switch {
	case !role.OfBusiness():
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

// managesAll reports whether the principal manages the team of every business that a person belongs to.
func managesAll(by Principal, person store.Person, members []access.Member) bool {
	return by.Operator || !person.Operator && !slices.ContainsFunc(members, func(m access.Member) bool {
		return by.Reach(m.BusinessID, access.ManageTeam) == access.None
	})
}

func memberFault(err error) error {
	switch {
	case errors.Is(err, store.ErrMember):
		return fault.Wrap(fault.Conflict, err, "email: this person is a member already, with another role; change that instead.")
	case errors.Is(err, store.ErrTooMany):
		return fault.Wrap(fault.Conflict, err, fmt.Sprintf("email: this person belongs to %d businesses, which is the most.", catalog.MostListed))
	}
	return err
}

// invited makes the link. Nobody but an operator gets one to somebody of whom it is known who they are.
func (a *Accounts) invited(ctx context.Context, by Principal, person store.Person, role access.Role) (*Invited, error) {
	invited := &Invited{PersonID: person.ID, Email: person.Email, Role: role}
	if person.Verified && !by.Operator {
		return invited, nil
	}
	clear, expires, err := a.makeLink(ctx, store.Link{PersonID: person.ID, Purpose: store.ForSignIn, Verifies: by.Operator}, LinkGood)
	if err != nil {
		return nil, fault.Unknown(fmt.Errorf("somebody was invited and has no link: %w", err)) // repeated, the request makes one
	}
	invited.Link, invited.ExpiresAt = LinkPath(clear), &expires
	return invited, nil
}

// changed logs who changed what.
func (a *Accounts) changed(ctx context.Context, by Principal, change string, attrs ...slog.Attr) {
	attrs = append([]slog.Attr{slog.String("change", change), slog.String("by", by.String())}, attrs...)
	a.Logger.LogAttrs(ctx, slog.LevelInfo, "admin change", attrs...)
}
