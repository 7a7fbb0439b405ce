package access

import (
	"context"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/fault"
)

type judgedKey struct{}

// Judged returns a context that records the business for which a request was authorized.
func Judged(ctx context.Context, businessID uuid.UUID) context.Context {
	return context.WithValue(ctx, judgedKey{}, businessID)
}

// JudgedBusiness returns the business for which a request was authorized; false for an operator, and for a request
// about no business.
func JudgedBusiness(ctx context.Context) (uuid.UUID, bool) {
	business, judged := ctx.Value(judgedKey{}).(uuid.UUID)
	return business, judged
}

// IsJudged reports whether a request was authorized for its principal's role
// in one business. It is false for an operator, who may act in all businesses.
func IsJudged(ctx context.Context) bool {
	_, judged := JudgedBusiness(ctx)
	return judged
}

// SameAsJudged returns an error if the slug now belongs to another business than the
// one for which the request was authorized. This happens if the business is removed and
// its slug reused before the request's body has arrived. Fault: business_not_found.
func SameAsJudged(ctx context.Context, businessID uuid.UUID) error {
	if judged, is := ctx.Value(judgedKey{}).(uuid.UUID); is && judged != businessID {
		return fault.New(fault.BusinessNotFound, "Business not found")
	}
	return nil
}
