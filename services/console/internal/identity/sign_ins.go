package identity

import (
	"context"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"

	"github.com/slotmesh/slotmesh/services/console/internal/identity/store"
)

// method is the name of a way to sign in. The metric and the log contain this name.
type method string

const (
	methodLink         method = "link"
	methodPassword     method = "password"
	methodPasswordLink method = "password-link"
	methodProvider     method = "oidc"
	methodPasskey      method = "passkey"
	methodDevice       method = "device" // a program that a person has allowed to act for them
)

// recordSignIn counts and logs a successful sign-in.
func (a *Accounts) recordSignIn(ctx context.Context, by method, session store.Session) {
	a.countSignIn(ctx, by, "signed-in")
	a.Logger.InfoContext(ctx, "signed in", "person_id", session.PersonID, "session_id", session.ID, "by", string(by))
}

// recordRefusal counts and logs a failed sign-in. The log entry does not name the account.
func (a *Accounts) recordRefusal(ctx context.Context, by method) {
	a.countSignIn(ctx, by, "refused")
	a.Logger.InfoContext(ctx, "sign-in refused", "by", string(by))
}

func (a *Accounts) countSignIn(ctx context.Context, by method, outcome string) {
	a.signIns.Add(ctx, 1, metric.WithAttributes(attribute.String("method", string(by)),
		attribute.String("outcome", outcome)))
}
