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
	byLink         method = "link"
	byPassword     method = "password"
	byPasswordLink method = "password-link"
	byProvider     method = "oidc"
	byPasskey      method = "passkey"
	byDevice       method = "device" // a program that a person has allowed to act for them
)

// signedIn counts and logs a successful sign-in.
func (a *Accounts) signedIn(ctx context.Context, by method, session store.Session) {
	a.count(ctx, by, "signed-in")
	a.Logger.InfoContext(ctx, "signed in", "person_id", session.PersonID, "session_id", session.ID, "by", string(by))
}

// refused counts and logs a failed sign-in. The log entry does not name the account.
func (a *Accounts) refused(ctx context.Context, by method) {
	a.count(ctx, by, "refused")
	a.Logger.InfoContext(ctx, "sign-in refused", "by", string(by))
}

func (a *Accounts) count(ctx context.Context, by method, outcome string) {
	a.signIns.Add(ctx, 1, metric.WithAttributes(attribute.String("method", string(by)),
		attribute.String("outcome", outcome)))
}
