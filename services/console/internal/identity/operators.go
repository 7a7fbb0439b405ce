package identity

import (
	"context"
	"errors"
	"log/slog"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/platform/request"
	"github.com/slotmesh/slotmesh/libs/values/fault"
	"github.com/slotmesh/slotmesh/services/console/internal/identity/access"
	"github.com/slotmesh/slotmesh/services/console/internal/identity/store"
)

// ListOperators lists the operators, in the order in which they were added. Faults: forbidden; invalid_parameter for an
// invalid cursor.
func (a *Accounts) ListOperators(ctx context.Context, by Principal,
	page request.Page) ([]store.Operator, string, error) {
	if err := by.RequireAnywhere(access.ManageOperators); err != nil {
		return nil, "", err
	}
	return a.Store.ListOperators(ctx, a.Clock.Now(), page)
}

// DemoteOperator removes the operator right of a person, signs the person out, and revokes the tokens that they created
// as an operator. Faults: forbidden; not_found; conflict for the last operator.
func (a *Accounts) DemoteOperator(ctx context.Context, by Principal, personID uuid.UUID) error {
	if err := by.RequireAnywhere(access.ManageOperators); err != nil {
		return err
	}
	if err := a.Store.DemoteOperator(ctx, by, personID, a.Clock.Now()); err != nil {
		return toOperatorFault(err)
	}
	a.logChange(ctx, by, "demote operator", slog.String("person_id", personID.String()))
	return nil
}

// SignOutOperator signs an operator out in all browsers, and revokes the tokens that they created as an operator.
// Faults: forbidden; not_found.
func (a *Accounts) SignOutOperator(ctx context.Context, by Principal, personID uuid.UUID) error {
	if err := by.RequireAnywhere(access.ManageOperators); err != nil {
		return err
	}
	if err := a.Store.SignOutOperator(ctx, by, personID, a.Clock.Now()); err != nil {
		return toOperatorFault(err)
	}
	a.logChange(ctx, by, "sign out operator", slog.String("person_id", personID.String()))
	return nil
}

func toOperatorFault(err error) error {
	switch {
	case errors.Is(err, store.ErrNotFound):
		return fault.New(fault.NotFound, "Operator not found")
	case errors.Is(err, store.ErrLastOperator):
		return fault.Wrap(fault.Conflict, err,
			"This is the last operator of the platform; make somebody else an operator first.")
	}
	return err
}
