package usecase

import (
	"context"

	"github.com/google/uuid"
)

// SignIns mails the one-time links with which customers sign in to the page with all own bookings.
type SignIns struct {
	// Queue inserts the job that sends the mail. It is the method QueueSignIn of messages.Messages.
	Queue func(ctx context.Context, businessID, id uuid.UUID) error
}

// Send queues the mail of a sign-in. Faults: conflict if no mail server is configured, or if the business is a sandbox;
// business_not_found; service_unavailable.
func (s *SignIns) Send(ctx context.Context, businessID, id uuid.UUID) error {
	return convertMessageError(s.Queue(ctx, businessID, id))
}
