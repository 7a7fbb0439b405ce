// Package usecase implements the operations of business owners: publish a manifest,
// publish an old version again, and remove a business. If a function returns a fault,
// the caller answers the request with that fault. Any other error is an internal error.
package usecase

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/sethvargo/go-retry"

	"github.com/slotmesh/slotmesh/libs/contracts/bookingclient"
	"github.com/slotmesh/slotmesh/libs/contracts/catalog"
	"github.com/slotmesh/slotmesh/libs/platform/clock"
	"github.com/slotmesh/slotmesh/libs/platform/telemetry"
	"github.com/slotmesh/slotmesh/libs/values/fault"
	"github.com/slotmesh/slotmesh/services/catalog/internal/ready"
	"github.com/slotmesh/slotmesh/services/catalog/internal/store"
)

// Store is the part of [store.Store] that the package uses.
type Store interface {
	Predecessors(ctx context.Context, slug string) (int, error)
	Publish(ctx context.Context, slug string, c store.Content, ifMatch *int64, binds bool,
		now time.Time) (store.Published, error)
	Version(ctx context.Context, slug string, version int64) (store.Stored, error)
	Rollback(ctx context.Context, slug string, version int64, ifMatch *int64, binds bool,
		now time.Time) (store.Published, error)
	Remove(ctx context.Context, slug string, id uuid.UUID, now time.Time) (store.Removed, error)
	Pictures(ctx context.Context, business uuid.UUID, ids []string) (map[string]catalog.Picture, error)
}

var _ Store = (*store.Store)(nil)

// Bookings informs the booking service about the newest version of a business. From then on, booking
// does not accept bookings that are based on older versions. [bookingclient.Client] implements Bookings.
type Bookings interface {
	NotifyPublished(ctx context.Context, businessID uuid.UUID, version int64) error
}

var _ Bookings = (*bookingclient.Client)(nil)

// Owner changes businesses. It makes each change at most once for the Idempotency-Key in the context.
type Owner struct {
	Store    Store
	Bookings Bookings
	// OnChange is called after each change with the number of the newest
	// version. OnChange must mark all older versions as superseded.
	OnChange  func(ctx context.Context, slug string, version int64)
	Clock     clock.Clock
	Telemetry *telemetry.Telemetry
	// AnnounceTimeout is how long a change waits for the answer of booking; 0 means five seconds.
	AnnounceTimeout time.Duration
}

// Rollback publishes an old version of a business again, as the newest version.
// The arguments `ifMatch` and `binds` have the same meaning as in [Owner.Publish].
//
// Faults: business_not_found; not_found if the version does not exist; invalid_parameter if this release of catalog
// cannot serve the version; forbidden if a payment account is not bound to the business; conflict if a picture of the
// version was removed; precondition_failed if `ifMatch` is not the newest version; the faults of
// postgres.WriteIdempotently; and the fault of [Owner.Announce].
func (o *Owner) Rollback(ctx context.Context, slug string, version int64, ifMatch *int64,
	binds bool) (store.Published, error) {
	old, err := o.Store.Version(ctx, slug, version)
	if err != nil {
		return store.Published{}, Fault(err)
	}
	// Another release of catalog may have published the old version. A
	// version that this release cannot serve must not become the newest.
	if _, err := ready.Decoder("")(store.Text{JSON: old.Canonical}, old.Version); err != nil {
		return store.Published{}, fault.Wrap(fault.InvalidParameter, err,
			"version: this version can no longer be served; correct its manifest and publish it.")
	}
	published, err := o.Store.Rollback(ctx, slug, version, ifMatch, binds, o.Clock.Now())
	if err != nil {
		return store.Published{}, Fault(err)
	}
	return published, o.Announce(ctx, "rolled back", slug, published.BusinessID, published.Version)
}

// Remove removes the business with this slug and id, and all its versions. The slug can then be used
// again. If `id` is the nil UUID, Remove removes the business of the slug, whatever its id. Faults:
// business_not_found, the faults of postgres.WriteIdempotently, and the fault of [Owner.Announce].
func (o *Owner) Remove(ctx context.Context, slug string, id uuid.UUID) error {
	removed, err := o.Store.Remove(ctx, slug, id, o.Clock.Now())
	if err != nil {
		return Fault(err)
	}
	return o.Announce(ctx, "removed", slug, removed.BusinessID, removed.LastVersion+1)
}

// Announce informs booking, and all services that cache the snapshot, that `version` is the
// newest version of slug. When Announce returns nil, booking does not accept bookings
// based on older versions. Publish, Rollback and Remove call it after each change.
//
// The API also calls Announce when it answers a repeated request with the stored idempotency result. The
// process that made the change may have died before it announced the change. Fault: outcome_unknown if
// booking does not answer. In that case, the change is stored nevertheless.
func (o *Owner) Announce(ctx context.Context, change, slug string, business uuid.UUID, version int64) error {
	o.OnChange(ctx, slug, version)
	o.Telemetry.Logger.InfoContext(ctx, change, "slug", slug, "version", version)
	announceCtx, cancel := context.WithTimeout(context.WithoutCancel(ctx), cmp.Or(o.AnnounceTimeout, announceTimeout))
	defer cancel()
	err := retry.Do(announceCtx, retry.NewConstant(announceInterval), func(ctx context.Context) error {
		return retry.RetryableError(o.Bookings.NotifyPublished(ctx, business, version))
	})
	if err == nil {
		return nil
	}
	o.Telemetry.Logger.WarnContext(ctx,
		"booking did not confirm a new version; it uses its cached version for up to two seconds", "slug", slug,
		"version", version, "error", err)
	unknown := fault.Wrap(fault.OutcomeUnknown, err,
		"This was done, but bookings could not be told of it: some may be made by the offer before for a few "+
			"seconds; repeat the request, with the same Idempotency-Key if it had one.")
	unknown.RetryAfter = time.Second
	return unknown
}

// announceTimeout is how long a change waits for the answer of booking, with
// all attempts. announceInterval is the interval between two attempts.
const (
	announceTimeout  = 5 * time.Second
	announceInterval = 250 * time.Millisecond
)

// Fault converts an error of the store to the fault for the caller. It returns any other error unchanged.
func Fault(err error) error {
	if errors.Is(err, store.ErrNotFound) {
		return fault.New(fault.BusinessNotFound, "Business not found")
	}
	if errors.Is(err, store.ErrPictureRemoved) {
		return fault.Wrap(fault.Conflict, err, "The manifest shows a picture that was removed; upload it again.")
	}
	if version, ok := errors.AsType[store.NoVersionError](err); ok {
		return fault.Newf(fault.NotFound, "version: the business has no version %d; GET …/versions lists those it has.",
			version)
	}
	if account, ok := errors.AsType[store.AccountError](err); ok {
		return accountFault(account)
	}
	if version, ok := errors.AsType[store.NotNewestError](err); ok {
		if version.Newest == nil {
			return fault.New(fault.PreconditionFailed,
				"If-Match: the business is not published; leave the header out to publish it.")
		}
		return fault.Newf(fault.PreconditionFailed,
			"If-Match: the newest version is %d, not %d; read it and try again.", *version.Newest, version.Known)
	}
	return err
}

// accountFault converts a [store.AccountError] to a fault. The fault does not reveal whether the account is
// bound to another business. Therefore an owner cannot discover which payment accounts other businesses use.
func accountFault(err store.AccountError) error {
	return fault.Wrap(fault.Forbidden, err,
		fmt.Sprintf("payments.accounts.%s: this account is not bound to the business. "+
			"An operator of the platform binds it by publishing the manifest, unless another business names it.",
			err.Provider))
}
