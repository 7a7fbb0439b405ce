package identity

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/contracts/catalog"
	"github.com/slotmesh/slotmesh/libs/platform/request"
	"github.com/slotmesh/slotmesh/libs/values/fault"
	"github.com/slotmesh/slotmesh/services/console/internal/identity/access"
	"github.com/slotmesh/slotmesh/services/console/internal/identity/secret"
	"github.com/slotmesh/slotmesh/services/console/internal/identity/store"
)

// NewToken has the data of a request to create a token of the admin API.
type NewToken struct {
	Name      string
	Role      access.Role
	StaffID   *uuid.UUID // id of the staff member in the offer, for the role staff
	ExpiresAt *time.Time // nil: the token does not expire
}

// CreateToken creates a token of the admin API with a role in a business. If business is nil, the token has the role of
// an operator. CreateToken returns the token and its secret, which is not stored. Faults: invalid_parameter; forbidden;
// conflict for a repeated Idempotency-Key.
func (a *Accounts) CreateToken(ctx context.Context, by Principal, business *catalog.Snapshot,
	newToken NewToken) (*store.Token, string, error) {
	m, err := authorizeTokenRole(by, business, newToken)
	if err != nil {
		return nil, "", err
	}
	const longest = 100
	name, err := request.Line("name", newToken.Name, longest)
	if err != nil {
		return nil, "", err
	}
	now := a.Clock.Now().UTC().Truncate(time.Microsecond)
	if newToken.ExpiresAt != nil && (!newToken.ExpiresAt.After(now) || newToken.ExpiresAt.Year() > 9999) {
		return nil, "", request.Invalid("expires_at: send an instant in the future, or leave it out for a token that " +
			"does not expire.")
	}
	clear, hash := secret.New(secret.TokenPrefix)
	token := store.Token{
		Member: m, ID: uuid.New(), Name: name, Prefix: secret.DisplayPrefix(clear), CreatedBy: by.ID, CreatedAt: now,
		ExpiresAt: newToken.ExpiresAt,
	}
	err = a.Store.AddToken(ctx, by, token, hash)
	var tokenExistsError *store.TokenExistsError
	if errors.As(err, &tokenExistsError) {
		return nil, "", ToTokenExistsFault(tokenExistsError)
	}
	if errors.Is(err, store.ErrTooManyTokens) {
		return nil, "", fault.Wrap(fault.Conflict, err,
			fmt.Sprintf("There are %d tokens here already, which is the most; revoke one first.", store.MaxTokens))
	}
	if err == nil {
		a.logChange(ctx, by, "create token", slog.String("token_id", token.ID.String()),
			slog.String("business_id", m.BusinessID.String()), slog.String("role", string(m.Role)))
	}
	return &token, clear, err
}

// ToTokenExistsFault returns the fault for a request whose Idempotency-Key has already created a token.
func ToTokenExistsFault(tokenExistsError *store.TokenExistsError) error {
	return fault.Newf(fault.Conflict,
		"Idempotency-Key: a request with this key made the token %s; its secret is shown once, in that "+
			"answer, and kept nowhere. If that answer was lost, revoke this token and make another one with a new "+
			"Idempotency-Key.", tokenExistsError.ID)
}

// authorizeTokenRole checks that the principal may create a token with the role in `newToken`, and returns this role as
// a membership. Faults: invalid_parameter; forbidden.
func authorizeTokenRole(by Principal, business *catalog.Snapshot, newToken NewToken) (access.Member, error) {
	if business != nil {
		if err := by.Require(business.ID, access.ManageTeam); err != nil {
			return access.Member{}, err
		}
		return buildMember(business, newToken.Role, newToken.StaffID)
	}
	switch {
	case newToken.Role != access.Operator:
		return access.Member{},
			request.Invalid("business: missing; send the slug of the business that the token is for.")
	case !by.IsOperator:
		return access.Member{}, fault.New(fault.Forbidden, "Only operators make tokens of operators.")
	case newToken.StaffID != nil:
		return access.Member{}, request.Invalid("staff_id: an operator is in no business; leave it out.")
	}
	return access.Member{Role: access.Operator}, nil
}

// ListTokens lists the tokens that the principal may revoke, oldest first. If business is nil, it lists the tokens of
// all businesses whose team the principal manages. Fault: invalid_parameter for an invalid cursor.
func (a *Accounts) ListTokens(ctx context.Context, by Principal, business *catalog.Snapshot,
	page request.Page) ([]store.Token, string, error) {
	if business != nil {
		if err := by.Require(business.ID, access.ManageTeam); err != nil {
			return nil, "", err
		}
		return a.Store.ListTokens(ctx, []uuid.UUID{business.ID}, page)
	}
	if by.IsOperator {
		return a.Store.ListTokens(ctx, nil, page)
	}
	of := []uuid.UUID{}
	for _, id := range by.Businesses() {
		if by.PermissionIn(id, access.ManageTeam) != access.None {
			of = append(of, id)
		}
	}
	return a.Store.ListTokens(ctx, of, page)
}

// FindToken returns a token that the principal may revoke. Fault: not_found, also for a token of a business whose team
// the principal does not manage.
func (a *Accounts) FindToken(ctx context.Context, by Principal, id uuid.UUID) (store.Token, error) {
	token, err := a.Store.FindToken(ctx, id)
	if errors.Is(err, store.ErrNotFound) || err == nil && !by.IsOperator && by.PermissionIn(token.BusinessID,
		access.ManageTeam) == access.None {
		return store.Token{}, fault.New(fault.NotFound, "Token not found")
	}
	return token, err
}

// RevokeToken revokes a token and the tokens that were created with this token. The tokens stop working at once. Fault:
// not_found, also for a token of a business whose team the principal does not manage.
func (a *Accounts) RevokeToken(ctx context.Context, by Principal, id uuid.UUID) error {
	token, err := a.FindToken(ctx, by, id)
	if err != nil {
		return err
	}
	if err := a.Store.RevokeToken(ctx, by, token.BusinessID, id, a.Clock.Now()); err != nil {
		return err
	}
	a.logChange(ctx, by, "revoke token", slog.String("token_id", id.String()))
	return nil
}
