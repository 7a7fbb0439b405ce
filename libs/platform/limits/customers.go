package limits

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"net/netip"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/platform/ratelimit"
	"github.com/slotmesh/slotmesh/libs/platform/server"
	"github.com/slotmesh/slotmesh/libs/values/fault"
)

// CountCustomerLink counts a request for the mailed link with which a customer signs in to the page with all own
// bookings at a business. The request counts by client address, by e-mail address and by business, in this order. The
// counts do not depend on whether the business knows the e-mail address. The counters contain only a hash of it.
//
// CountCustomerLink reports whether the mail may be sent. The result is false, without a fault, if the e-mail address
// has reached its limit. The caller then answers as usual: an earlier mail has a link that is at most as old as links
// are valid, and the answer must not show whether a customer uses the address.
//
// Fault: rate_limited (429) if the client address or the business has reached its limit.
func (g *Gate) CountCustomerLink(ctx context.Context, client netip.Addr, businessID uuid.UUID, email string,
	answer server.Header) (bool, error) {
	err := g.count(ctx, g.rows[networkCustomerLink], ratelimit.Address(client), fault.RateLimited, answer)
	if err != nil {
		return false, err
	}
	business := "business " + businessID.String()
	digest := sha256.Sum256([]byte(email))
	err = g.count(ctx, g.rows[customerLink], ratelimit.ID(business+" customer "+hex.EncodeToString(digest[:])),
		fault.RateLimited, http.Header{})
	if fault.Is(err, fault.RateLimited) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	err = g.count(ctx, g.rows[businessCustomerLink], ratelimit.ID(business), fault.RateLimited, http.Header{})
	return err == nil, err
}
