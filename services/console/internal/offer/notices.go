package offer

import (
	"context"
	"encoding/json"
	"log/slog"
	"maps"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/contracts/catalog"
	"github.com/slotmesh/slotmesh/libs/contracts/manifest"
	"github.com/slotmesh/slotmesh/libs/contracts/notifications"
	"github.com/slotmesh/slotmesh/services/console/internal/identity"
	"github.com/slotmesh/slotmesh/services/console/internal/identity/accountmail"
	"github.com/slotmesh/slotmesh/services/console/internal/identity/store"
)

// OwnerMailer mails all owners of a business in the background. [identity.Accounts] implements it.
type OwnerMailer interface {
	// VersionsURL returns the URL of the page that lists the published versions of a business's offer.
	VersionsURL(slug string) string
	MailOwners(ctx context.Context, businessID uuid.UUID, subject string,
		write func(to store.Person) (notifications.Mail, error))
}

var _ OwnerMailer = (*identity.Accounts)(nil)

// watchedFields has the fields of a manifest that [UseCases.notifyOwners] compares, and the name of the business, which
// the mail shows.
type watchedFields struct {
	Name     string `json:"name"`
	Payments struct {
		Accounts map[string]manifest.Line `json:"accounts"`
	} `json:"payments"`
	Privacy *manifest.Privacy `json:"privacy"`
}

// readWatched returns the watched fields of a manifest.
func readWatched(m *manifest.Manifest) *watchedFields {
	w := &watchedFields{Name: string(m.Name), Privacy: m.Privacy}
	if m.Payments != nil {
		w.Payments.Accounts = m.Payments.Accounts
	}
	return w
}

func (w *watchedFields) keepCustomersDays() int {
	return (&manifest.Manifest{Privacy: w.Privacy}).KeepCustomersDays()
}

// notifyOwners mails the owners if a new version keeps customers' data for fewer days than the previous version. It
// also mails them if the new version names other payment accounts. Errors are only logged, because the new version is
// already published.
func (o *UseCases) notifyOwners(ctx context.Context, published *catalog.Published) {
	if published.Created {
		return
	}
	after, err := o.loadWatched(ctx, published.Slug, published.Version)
	if err == nil {
		var before *watchedFields
		if before, err = o.loadWatched(ctx, published.Slug, published.Version-1); err == nil {
			o.mailChanges(ctx, published, before, after)
			return
		}
	}
	o.Logger.WarnContext(ctx, "a new version was not compared with the version before; its owners are not mailed",
		slog.String("slug", published.Slug), slog.Int64("version", published.Version), slog.Any("error", err))
}

func (o *UseCases) loadWatched(ctx context.Context, slug string, version int64) (*watchedFields, error) {
	got, err := o.Businesses.Get(ctx, slug, version, catalog.MediaJSON)
	if err != nil {
		return nil, err
	}
	var fields watchedFields
	return &fields, json.Unmarshal(got.Text, &fields)
}

func (o *UseCases) mailChanges(ctx context.Context, published *catalog.Published, before, after *watchedFields) {
	link := o.Mailer.VersionsURL(published.Slug)
	if days, until := after.keepCustomersDays(), before.keepCustomersDays(); days < until {
		o.Mailer.MailOwners(ctx, published.ID, identity.SubjectRetention,
			func(to store.Person) (notifications.Mail, error) {
				return accountmail.WriteRetentionShortened(to.Email, after.Name, link, until, days, to.Language)
			})
	}
	if !maps.Equal(before.Payments.Accounts, after.Payments.Accounts) {
		o.Mailer.MailOwners(ctx, published.ID, identity.SubjectPayments,
			func(to store.Person) (notifications.Mail, error) {
				return accountmail.WritePaymentAccountChanged(to.Email, after.Name, link, to.Language)
			})
	}
}
