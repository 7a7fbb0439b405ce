package offer

import (
	"bytes"
	"context"
	"encoding/json"
	"log/slog"
	"slices"
	"strconv"
	"strings"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/contracts/catalog"
	"github.com/slotmesh/slotmesh/libs/contracts/manifest"
	"github.com/slotmesh/slotmesh/libs/values/fault"
	"github.com/slotmesh/slotmesh/services/console/internal/identity/access"
	"github.com/slotmesh/slotmesh/services/console/internal/peers"
)

// maxAttempts is the maximum number of attempts to publish one change. An attempt fails if another person publishes at
// the same time.
const maxAttempts = 3

// Publish makes a manifest the newest version of a business. If `notifies` is true, customers with future bookings get
// a message about each new address of a place ([UseCases.notifyCustomers]). Faults: forbidden if the manifest changes a section that
// the principal's role may not change (access.ActionForField); the faults of catalog. If the principal is a member of
// the staff, the manifest may change only the time off of this member (accounts.md).
func (o *UseCases) Publish(ctx context.Context, by peers.Principal, slug string, text []byte,
	mediaType, ifMatch string, notifies bool) (*catalog.Published, error) {
	published, err := o.publishOverNewest(ctx, by, slug, ifMatch, func(newest *catalog.Snapshot) error {
		return o.checkPublication(ctx, by, newest, text)
	}, func(ifMatch string) (*catalog.Published, error) {
		return o.Businesses.Binding(by.IsOperator).Publish(ctx, slug, text, mediaType, ifMatch)
	})
	if err == nil {
		o.LogChange(ctx, by, "publish", slug, slog.Int64("version", published.Version))
		o.notifyOwners(ctx, published)
	}
	if err == nil && notifies {
		err = o.notifyCustomers(ctx, by, published)
	}
	return published, err
}

// Rollback publishes an old version again as the newest one. The argument `ifMatch` names the version that must be the
// newest one before the rollback; "" allows any version. The argument `notifies` is as for [UseCases.Publish]. Faults: precondition_failed if another version is the newest;
// forbidden, as for [UseCases.Publish]; the faults of catalog.
func (o *UseCases) Rollback(ctx context.Context, by peers.Principal, slug string, version int64,
	ifMatch string, notifies bool) (*catalog.Published, error) {
	published, err := o.publishOverNewest(ctx, by, slug, ifMatch, func(newest *catalog.Snapshot) error {
		old, err := o.Businesses.Get(ctx, slug, version, catalog.MediaJSON)
		if err != nil {
			return err
		}
		return o.checkPublication(ctx, by, newest, old.Text)
	}, func(ifMatch string) (*catalog.Published, error) {
		return o.Businesses.Binding(by.IsOperator).Rollback(ctx, slug, version, ifMatch)
	})
	if err == nil {
		o.LogChange(ctx, by, "rollback", slug, slog.Int64("to", version), slog.Int64("version", published.Version))
		o.notifyOwners(ctx, published)
	}
	if err == nil && notifies {
		err = o.notifyCustomers(ctx, by, published)
	}
	return published, err
}

// publishOverNewest publishes a change of the offer if the principal may make this change. The function `check` checks
// the change against the newest version. The function `publish` publishes the change, but only if this version is still
// the newest one. So a change never replaces a version against which it was not checked.
//
// If another person has published in the meantime, publishOverNewest repeats the check and the publishing, unless
// `ifMatch` names a version. If the principal is an operator, publishOverNewest skips the check, because an operator
// may change everything.
func (o *UseCases) publishOverNewest(ctx context.Context, by peers.Principal, slug, ifMatch string,
	check func(*catalog.Snapshot) error,
	publish func(ifMatch string) (*catalog.Published, error),
) (*catalog.Published, error) {
	if by.IsOperator {
		return publish(ifMatch)
	}
	for attempt := 1; ; attempt++ {
		newest, err := o.FindBusiness(ctx, slug)
		if err != nil {
			return nil, err
		}
		if version, err := strconv.ParseInt(strings.Trim(strings.TrimSpace(ifMatch), `"`), 10, 64); err == nil &&
			version != newest.Version {
			return nil, fault.Newf(fault.PreconditionFailed,
				"If-Match: the newest version is %d, not %d; read it and try again.", newest.Version, version)
		} else if err != nil && ifMatch != "" {
			return nil, fault.New(fault.InvalidParameter,
				`If-Match: not a version; write the newest one you know in quotes, such as "3".`)
		}
		if err := check(newest); err != nil {
			return nil, err
		}
		published, err := publish(strconv.Quote(strconv.FormatInt(newest.Version, 10)))
		if ifMatch != "" || attempt == maxAttempts || !fault.Is(err, fault.PreconditionFailed) {
			return published, err
		}
	}
}

// checkPublication checks the text of a manifest against the newest version with [checkChange].
func (o *UseCases) checkPublication(ctx context.Context, by peers.Principal, newest *catalog.Snapshot, text []byte) error {
	if err := by.Require(newest.ID, access.EditOffer); err != nil {
		return err
	}
	wanted, err := parseManifest(ctx, newest.Slug, text)
	if err != nil {
		return err
	}
	current, err := o.Businesses.Get(ctx, newest.Slug, newest.Version, catalog.MediaJSON)
	if err != nil {
		return err
	}
	before, err := parseManifest(ctx, newest.Slug, current.Text)
	if err != nil {
		return err
	}
	return checkChange(by, newest.ID, before, wanted)
}

// checkChange returns an error if a manifest differs from the newest version in a section that the principal's role may
// not change. Fault: forbidden.
func checkChange(by peers.Principal, businessID uuid.UUID, before, wanted *manifest.Manifest) error {
	if err := by.Require(businessID, access.EditOffer); err != nil {
		return err
	}
	refused, err := findRefusedSection(by, businessID, before, wanted)
	if err != nil {
		return err
	}
	if refused != nil {
		return fault.New(fault.Forbidden, refused.path+": "+refused.sentence)
	}
	if by.PermissionIn(businessID, access.EditOffer) != access.Own {
		return nil
	}
	self, _ := by.MembershipIn(businessID)
	return checkOnlyTimeOff(businessID, self.StaffID, before, wanted)
}

// checkOnlyTimeOff returns an error if two manifests differ in anything except the time off of one member of the staff.
func checkOnlyTimeOff(businessID, staffID uuid.UUID, before, after *manifest.Manifest) error {
	old, err := encodeWithoutTimeOff(businessID, staffID, before)
	if err != nil {
		return err
	}
	changed, err := encodeWithoutTimeOff(businessID, staffID, after)
	if err != nil {
		return err
	}
	if !bytes.Equal(old, changed) {
		return fault.Newf(fault.Forbidden,
			"The role %s may not %s except for their own overrides and the blocks of themselves alone.",
			access.Staff, access.EditOffer)
	}
	return nil
}

// encodeWithoutTimeOff returns a manifest as JSON, without the time off of one member. The time off consists of two
// parts: the overrides of the member's hours, and the blocked times that name only this member. If the manifest omits
// the id of the business, encodeWithoutTimeOff adds the id. So two manifests are equal if they differ only in whether
// they omit the id.
func encodeWithoutTimeOff(businessID, staffID uuid.UUID, m *manifest.Manifest) ([]byte, error) {
	rest, id := *m, manifest.ID(businessID)
	if rest.ID == nil {
		rest.ID = &id
	}
	rest.Staff = slices.Clone(m.Staff)
	var own manifest.Key
	for i := range rest.Staff {
		if rest.Staff[i].ObjectID(businessID) == staffID {
			own, rest.Staff[i].Overrides = rest.Staff[i].Key, nil
		}
	}
	rest.Blocks = slices.DeleteFunc(slices.Clone(m.Blocks), func(b manifest.Block) bool {
		return own != "" && len(b.Staff) == 1 && b.Staff[0] == own
	})
	if len(rest.Blocks) == 0 {
		rest.Blocks = nil // a manifest with an empty list means the same as one without the list
	}
	return json.Marshal(&rest)
}
