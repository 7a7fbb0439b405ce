package identity

import (
	"context"
	"errors"
	"log/slog"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/contracts/catalog"
	"github.com/slotmesh/slotmesh/libs/platform/request"
	"github.com/slotmesh/slotmesh/services/console/internal/identity/access"
	"github.com/slotmesh/slotmesh/services/console/internal/identity/secret"
	"github.com/slotmesh/slotmesh/services/console/internal/identity/store"
)

// InvitationPath returns the path of the page on which a person who has an account accepts an invitation. The argument
// `secret` is the secret of the mailed link.
func InvitationPath(secret string) string { return "/sign-in/invitation/" + secret }

// ListInvitations lists the open invitations of a business, oldest first.
func (a *Accounts) ListInvitations(ctx context.Context, by Principal,
	business *catalog.Snapshot) ([]store.Invitation, error) {
	if err := by.Require(business.ID, access.ManageTeam); err != nil {
		return nil, err
	}
	return a.Store.ListInvitations(ctx, business.ID, a.Clock.Now())
}

// WithdrawInvitation deletes an invitation that the invited person has not accepted yet. If the invitation is no longer
// open, nothing changes.
func (a *Accounts) WithdrawInvitation(ctx context.Context, by Principal, business *catalog.Snapshot,
	id uuid.UUID) error {
	if err := by.Require(business.ID, access.ManageTeam); err != nil {
		return err
	}
	if err := a.Store.WithdrawInvitation(ctx, by, business.ID, id, a.Clock.Now()); err != nil {
		return err
	}
	a.logChange(ctx, by, "withdraw invitation", slog.String("slug", business.Slug),
		slog.String("invitation_id", id.String()))
	return nil
}

// ReceivedInvitation is an invitation as the invited person sees it, with the name of the business.
type ReceivedInvitation struct {
	store.Invitation
	Business string // name of the business
}

// ListReceivedInvitations lists the open invitations to the signed-in person, oldest first. If the person's address is
// not verified, it returns no invitations. In this case, the signed-in user may be an inviter who has the link of the
// invitation. Fault: service_unavailable.
func (a *Accounts) ListReceivedInvitations(ctx context.Context, signed *SignedInPerson) ([]ReceivedInvitation, error) {
	if !signed.Person.IsVerified {
		return nil, nil
	}
	list, err := a.Store.ListInvitationsTo(ctx, signed.Person.Email, a.Clock.Now())
	if err != nil || len(list) == 0 {
		return nil, err
	}
	return a.describeInvitations(ctx, list)
}

// describeInvitations adds the names of the businesses to invitations, and removes the invitations of deleted
// businesses from the list.
func (a *Accounts) describeInvitations(ctx context.Context, list []store.Invitation) ([]ReceivedInvitation, error) {
	ids := make([]uuid.UUID, len(list))
	for i, inv := range list {
		ids[i] = inv.BusinessID
	}
	businesses, err := a.Businesses.List(ctx, ids, request.Page{Limit: catalog.MaxListed})
	if err != nil {
		return nil, err
	}
	names := make(map[uuid.UUID]string, len(list))
	for _, b := range businesses.Businesses {
		names[b.ID] = b.Name
	}
	var all []ReceivedInvitation
	for _, inv := range list {
		if name, ok := names[inv.BusinessID]; ok {
			all = append(all, ReceivedInvitation{inv, name})
		}
	}
	return all, nil
}

// FindInvitationByLink returns the invitation to which a mailed link belongs, if the invitation is still open. The
// argument `clear` is the secret of the link. Errors: [ErrInvalidSecret]. Fault: service_unavailable.
func (a *Accounts) FindInvitationByLink(ctx context.Context, clear string) (*ReceivedInvitation, error) {
	if !secret.IsWellFormed("", clear) {
		return nil, ErrInvalidSecret
	}
	found, err := a.Store.FindInvitationByHash(ctx, secret.Hash(clear), a.Clock.Now())
	if errors.Is(err, store.ErrNotFound) {
		return nil, ErrInvalidSecret
	}
	if err != nil {
		return nil, err
	}
	list, err := a.describeInvitations(ctx, []store.Invitation{found})
	if err == nil && len(list) == 0 {
		return nil, ErrInvalidSecret
	}
	if err != nil {
		return nil, err
	}
	return &list[0], nil
}

// AcceptInvitation makes the person with the e-mail address `email` a member of the business that has invited this
// address. The caller must have checked with a mailed link that the person owns the address. Errors: [ErrInvalidSecret]
// if the invitation is no longer open. Fault: conflict for a person who already belongs to the maximum number of
// businesses.
func (a *Accounts) AcceptInvitation(ctx context.Context, id uuid.UUID, email string) error {
	return a.logAcceptance(ctx, id, a.Store.AcceptInvitation(ctx, id, email, a.Clock.Now()))
}

// AcceptOwnInvitation makes the signed-in person a member, as [Accounts.AcceptInvitation] does.
func (a *Accounts) AcceptOwnInvitation(ctx context.Context, signed *SignedInPerson, id uuid.UUID) error {
	return a.logAcceptance(ctx, id, a.Store.AcceptOwnInvitation(ctx, signed.Principal, id, signed.Person.Email,
		a.Clock.Now()))
}

// logAcceptance logs that an invitation was accepted. The argument `err` is the result of the store. If `err` is not
// nil, logAcceptance logs nothing, and returns the error that the caller must return.
func (a *Accounts) logAcceptance(ctx context.Context, id uuid.UUID, err error) error {
	if errors.Is(err, store.ErrNotFound) {
		return ErrInvalidSecret
	}
	if err != nil {
		return toMemberFault(err)
	}
	a.Logger.InfoContext(ctx, "invitation accepted", "invitation_id", id)
	return nil
}

// DeclineInvitation deletes an open invitation to the signed-in person.
func (a *Accounts) DeclineInvitation(ctx context.Context, signed *SignedInPerson, id uuid.UUID) error {
	return a.Store.DeclineInvitation(ctx, signed.Principal, id, signed.Person.Email, a.Clock.Now())
}
