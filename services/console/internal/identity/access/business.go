package access

import (
	"context"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/values/fault"
)

type businessKey struct{}

// WithBusiness returns a context with the id of the business for which a request was authorized. [CheckBusiness]
// compares it later with the business that the request changes.
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

// CheckBusiness returns an error unless businessID is the business for which the request was authorized. The two
// businesses differ in this case: before the request's body arrived, the first business was removed, and another
// business got its slug. Fault: business_not_found.
func CheckBusiness(ctx context.Context, businessID uuid.UUID) error {
	if authorized, ok := AuthorizedBusiness(ctx); ok && authorized != businessID {
		return fault.New(fault.BusinessNotFound, "Business not found")
	}
	return nil
}
