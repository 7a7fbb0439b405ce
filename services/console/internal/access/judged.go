package access

import (
	"context"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/values/fault"
)

type judgedKey struct{}

// Judged returns a context that records the id of the business for which a request was authorized. [SameAsJudged] later
// compares it.
func Judged(ctx context.Context, businessID uuid.UUID) context.Context {
	return context.WithValue(ctx, judgedKey{}, businessID)
}

// JudgedBusiness returns the id of the business for which a request was authorized. It reports false for a request of
// an operator, and for a request whose path names no business.
func JudgedBusiness(ctx context.Context) (uuid.UUID, bool) {
	business, judged := ctx.Value(judgedKey{}).(uuid.UUID)
	return business, judged
}

// IsJudged reports whether a request was authorized for one business. It is false for a request of an operator, who may
// act in all businesses, and for a request whose path names no business.
func IsJudged(ctx context.Context) bool {
	_, judged := JudgedBusiness(ctx)
	return judged
}

// SameAsJudged returns an error unless businessID is the business for which the request was authorized. The two differ
// if the business is removed, and another one gets its slug, before the body of the request has arrived. Fault:
// business_not_found.
func SameAsJudged(ctx context.Context, businessID uuid.UUID) error {
	if judged, is := ctx.Value(judgedKey{}).(uuid.UUID); is && judged != businessID {
		return fault.New(fault.BusinessNotFound, "Business not found")
	}
	return nil
}
