package identity

import (
	"context"
	"errors"
	"log/slog"
	"slices"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/contracts/catalog"
	"github.com/slotmesh/slotmesh/libs/contracts/console"
	"github.com/slotmesh/slotmesh/libs/platform/request"
	"github.com/slotmesh/slotmesh/libs/values/fault"
	"github.com/slotmesh/slotmesh/services/console/internal/identity/access"
	"github.com/slotmesh/slotmesh/services/console/internal/identity/store"
)

// ListMembers lists the members of a business in the order in which they joined. Fault: invalid_parameter for an
// invalid cursor.
func (a *Accounts) ListMembers(ctx context.Context, by Principal, business *catalog.Snapshot,
	page request.Page) ([]store.TeamMember, string, error) {
	if err := by.Require(business.ID, access.ManageTeam); err != nil {
		return nil, "", err
	}
	return a.Store.ListMembers(ctx, business.ID, page)
}

// FindNames maps the ids of people to their names, for the list of a business's events.
func (a *Accounts) FindNames(ctx context.Context, people []uuid.UUID) (map[uuid.UUID]string, error) {
	return a.Store.FindNames(ctx, people)
}

// FindMember returns one member of a business. Fault: not_found.
func (a *Accounts) FindMember(ctx context.Context, by Principal, business *catalog.Snapshot,
	personID uuid.UUID) (*store.TeamMember, error) {
	if err := by.Require(business.ID, access.ManageTeam); err != nil {
		return nil, err
	}
	m, err := a.Store.FindMember(ctx, business.ID, personID)
	return &m, toTeamFault(err)
}

// ChangeMember gives a member another role or other locations, and revokes the tokens that the member created for the
// business. If the argument `locations` is nil, the member keeps the locations. If the member belongs to no other
// business, ChangeMember also signs them out. Faults: invalid_parameter; not_found; conflict
// for the last owner.
func (a *Accounts) ChangeMember(ctx context.Context, by Principal, business *catalog.Snapshot, personID uuid.UUID,
	role access.Role, staffID *uuid.UUID, locations *[]uuid.UUID) (*store.TeamMember, error) {
	if err := by.Require(business.ID, access.ManageTeam); err != nil {
		return nil, err
	}
	to, err := buildMember(business, role, staffID)
	if err != nil {
		return nil, err
	}
	if locations != nil {
		if to.Locations, err = a.checkNewLocations(ctx, business, personID, role, *locations); err != nil {
			return nil, err
		}
	}
	teamMember, err := a.Store.ChangeMember(ctx, by, personID, to, a.Clock.Now())
	if err != nil {
		return nil, toTeamFault(err)
	}
	a.logChange(ctx, by, "change member", slog.String("slug", business.Slug),
		slog.String("person_id", personID.String()),
		slog.String("role", string(role)))
	return &teamMember, nil
}

// checkNewLocations is [checkLocations] for a stored member. The result is not nil. Faults: invalid_parameter;
// not_found.
func (a *Accounts) checkNewLocations(ctx context.Context, business *catalog.Snapshot, personID uuid.UUID,
	role access.Role, ids []uuid.UUID) ([]uuid.UUID, error) {
	m, err := a.Store.FindMember(ctx, business.ID, personID)
	if err != nil {
		return nil, toTeamFault(err)
	}
	checked, err := checkLocations(business, role, ids, m.Locations)
	return append([]uuid.UUID{}, checked...), err
}

// RemoveMember removes a person from a business, and revokes the tokens that the person created for the business. If
// the person belongs to no other business, RemoveMember also signs them out. Faults: not_found; conflict for the last
// owner.
func (a *Accounts) RemoveMember(ctx context.Context, by Principal, business *catalog.Snapshot,
	personID uuid.UUID) error {
	if err := by.Require(business.ID, access.ManageTeam); err != nil {
		return err
	}
	if err := a.Store.RemoveMember(ctx, by, business.ID, personID, a.Clock.Now()); err != nil {
		return toTeamFault(err)
	}
	a.logChange(ctx, by, "remove member", slog.String("slug", business.Slug),
		slog.String("person_id", personID.String()))
	return nil
}

func toTeamFault(err error) error {
	switch {
	case errors.Is(err, store.ErrNotFound):
		return fault.New(fault.NotFound, "Member not found")
	case errors.Is(err, store.ErrLastOwner):
		return fault.Wrap(fault.Conflict, err,
			"This is the last owner of the business; make somebody else an owner first.")
	}
	return err
}

// FindVerifiedMembers returns the e-mail addresses in `emails` that belong to verified members of a business, or to
// verified operators. It returns each address as the caller spelled it. Fault: invalid_parameter for more than
// [console.MaxAddresses] addresses.
func (a *Accounts) FindVerifiedMembers(ctx context.Context, businessID uuid.UUID, emails []string) ([]string, error) {
	if len(emails) > console.MaxAddresses {
		return nil, request.Invalid("emails: send at most %d addresses.", console.MaxAddresses)
	}
	canonical := make([]string, len(emails))
	for i, email := range emails {
		canonical[i] = normalizeAddress(email)
	}
	found, err := a.Store.FindVerifiedMembers(ctx, businessID, canonical, a.Clock.Now())
	if err != nil {
		return nil, err
	}
	verified := []string{}
	for i, email := range emails {
		if slices.Contains(found, canonical[i]) {
			verified = append(verified, email)
		}
	}
	return verified, nil
}
