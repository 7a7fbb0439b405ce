package access

import (
	"context"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/fault"
)

type judgedKey struct{}

// Judged returns a context of a request that was let by for what its principal is in this business.
func Judged(ctx context.Context, businessID uuid.UUID) context.Context {
	return context.WithValue(ctx, judgedKey{}, businessID)
}

// JudgedBusiness returns the business for which a request was authorized; false for an operator, and for a request
// about no business.
func JudgedBusiness(ctx context.Context) (uuid.UUID, bool) {
	business, judged := ctx.Value(judgedKey{}).(uuid.UUID)
	return business, judged
}

// IsJudged reports whether a request was let by for what its principal is in one business; operators are, in whichever.
func IsJudged(ctx context.Context) bool {
	_, judged := JudgedBusiness(ctx)
	return judged
}

// SameAsJudged refuses a business that has taken the slug of the one for which the request was let by: until its body has come, the one may have
// been removed and the other published. Fault: business_not_found.
func SameAsJudged(ctx context.Context, businessID uuid.UUID) error {
	if judged, is := ctx.Value(judgedKey{}).(uuid.UUID); is && judged != businessID {
		return fault.New(fault.BusinessNotFound, "Business not found")
	}
	return nil
}
