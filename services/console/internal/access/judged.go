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

// IsJudged reports whether a request was let by for what its principal is in one business; operators are, in whichever.
func IsJudged(ctx context.Context) bool {
	_, judged := ctx.Value(judgedKey{}).(uuid.UUID)
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
