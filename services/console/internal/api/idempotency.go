package api

import (
	"net/http"

	"github.com/gofiber/fiber/v2"
	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/platform/server"
	"github.com/slotmesh/slotmesh/libs/values/fault"
	"github.com/slotmesh/slotmesh/services/console/internal/identity/access"
	"github.com/slotmesh/slotmesh/services/console/internal/identity/authorize"
)

// handleOnce returns the handler of a write about a team. The handler executes `write` only once for each
// Idempotency-Key of a business. The argument `findBusinessID` is a function that returns the id of the business, or
// the nil UUID for a write about operators. If `findBusinessID` refuses the caller, the handler does not look up a
// stored result of an earlier request.
//
// The argument `answerRetry` is a function that answers a repeated request from the stored result.
func (a *Admin) handleOnce(write fiber.Handler, findBusinessID func(*fiber.Ctx) (uuid.UUID, error),
	answerRetry func(*fiber.Ctx, []byte) error) fiber.Handler {
	return server.HandleIdempotently(write, func(c *fiber.Ctx) ([]byte, error) {
		now, err := a.Rooms.Accounts.Renew(c.UserContext(), principal(c))
		if fault.Is(err, fault.Unauthorized) {
			return nil, nil
		}
		if err != nil {
			return nil, fault.Unknown(err)
		}
		authorize.Admit(c, now)
		business, err := findBusinessID(c)
		switch {
		case err != nil && fault.KindOf(err).Status < http.StatusInternalServerError:
			return nil, nil
		case err != nil:
			return nil, fault.Unknown(err)
		}
		return a.Rooms.Accounts.Store.FindIdempotencyResult(c.UserContext(), business)
	}, answerRetry)
}

// findPathBusiness returns the id of the business in the path. Faults: business_not_found; forbidden if the principal
// does not manage the team of the business.
func (a *Admin) findPathBusiness(c *fiber.Ctx) (uuid.UUID, error) {
	business, err := a.findBusiness(c)
	if err != nil {
		return uuid.Nil, err
	}
	return business.ID, principal(c).Require(business.ID, access.ManageTeam)
}
