package api

import (
	"context"

	"github.com/slotmesh/slotmesh/libs/contracts/console"
	"github.com/slotmesh/slotmesh/libs/platform/server"
	"github.com/slotmesh/slotmesh/services/console/internal/identity"
)

// Internal serves the requests that other services send to console about people. The paths of these requests are under
// /internal.
type Internal struct{ Accounts *identity.Accounts }

// Mount adds the endpoint that returns the verified members of a business.
func (a *Internal) Mount(r *server.Internal) {
	server.Mount(r, console.VerifiedMembers, a.findVerified)
}

func (a *Internal) findVerified(ctx context.Context, r console.AddressesOf) (*console.Addresses, error) {
	verified, err := a.Accounts.FindVerifiedMembers(ctx, r.At.Business, r.Body.Emails)
	if err != nil {
		return nil, err
	}
	return &console.Addresses{Emails: verified}, nil
}
