package access

import (
	"context"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/values/fault"
)

type businessKey struct{}

// WithBusiness returns a context with the id of the business for which a request was authorized. [CheckBusiness] later
// compares this id with the business that the request changes.
func WithBusiness(ctx context.Context, businessID uuid.UUID) context.Context {
	return context.WithValue(ctx, businessKey{}, businessID)
}

// AuthorizedBusiness returns the id of the business for which a request was authorized. It returns false for a request
// of an operator, and for a request whose path names no business.
func AuthorizedBusiness(ctx context.Context) (uuid.UUID, bool) {
	business, ok := ctx.Value(businessKey{}).(uuid.UUID)
	return business, ok
}

// HasBusiness reports whether a request was authorized for one business. It returns false for a request of an operator,
// who may act in all businesses, and for a request whose path names no business.
func HasBusiness(ctx context.Context) bool {
	_, ok := AuthorizedBusiness(ctx)
	return ok
}

// CheckBusiness returns an error unless businessID is the business for which the request was authorized. Before the
// request's body arrives, that business can be removed, and another business can get its slug. The request must not
// change this other business. Fault: business_not_found.
func CheckBusiness(ctx context.Context, businessID uuid.UUID) error {
	if authorized, ok := AuthorizedBusiness(ctx); ok && authorized != businessID {
		return fault.New(fault.BusinessNotFound, "Business not found")
	}
	return nil
}
