package offer

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"slices"
	"strconv"
	"strings"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/contracts/catalog"
	"github.com/slotmesh/slotmesh/libs/contracts/manifest"
	"github.com/slotmesh/slotmesh/libs/platform/idempotency"
	"github.com/slotmesh/slotmesh/libs/values/fault"
	"github.com/slotmesh/slotmesh/libs/values/timespan"
	"github.com/slotmesh/slotmesh/services/console/internal/identity"
	"github.com/slotmesh/slotmesh/services/console/internal/identity/access"
	"github.com/slotmesh/slotmesh/services/console/internal/offer/document"
	"github.com/slotmesh/slotmesh/services/console/internal/offer/form"
	"github.com/slotmesh/slotmesh/services/console/internal/offer/template"
	"github.com/slotmesh/slotmesh/services/console/internal/peers"
)

// NewBusiness has the values that a new owner submits in the first form of the first visit. [UseCases.CreateBusiness]
// creates a business from these values.
type NewBusiness struct {
	Trade    string // trade of the business: one of [template.ListTrades]
	Name     string
	Address  string // slug of the business's pages, as the person typed it; "" to derive the slug from Name
	Currency string // ISO 4217 code
	Timezone string // IANA time zone name
	Language string // default language of the business's texts
	// Street, PostalCode, City and Country (ISO 3166-1) are the address of the business's place. If the person typed
	// neither a street nor a postal code nor a city, the business has no place yet.
	Street, PostalCode, City, Country string
	Email                             string // e-mail address for notices of new bookings; "" for no notices
}

// address returns the address of the business as an object of the manifest, without the fields that are empty.
func (b NewBusiness) address() document.Fields {
	address := document.Fields{}
	for name, value := range map[string]string{"street": b.Street, "postal_code": b.PostalCode, "city": b.City,
		"country": b.Country} {
		if value != "" {
			address[name] = value
		}
	}
	return address
}

// OwnerRecords stores the owners of businesses. [identity.Accounts] implements it.
type OwnerRecords interface {
	BeginOwnBusiness(ctx context.Context, by peers.Principal, businessID uuid.UUID) (isNew bool, err error)
	DropOwnBusiness(ctx context.Context, by peers.Principal, businessID uuid.UUID) error
}

var _ OwnerRecords = (*identity.Accounts)(nil)

// Slug returns the slug of the business. The slug is derived from Address, or from Name if Address is empty.
func (b NewBusiness) Slug() string {
	name := b.Address
	if name == "" {
		name = b.Name
	}
	return form.NewKey("business", document.Fields{"name": name}, nil)
}

// sellableLists has the names of the manifest's lists of objects that customers can book, buy or rent.
var sellableLists = []string{"services", "events", "rentals"}

// CreateBusiness publishes the first version of a business. It makes this version from the template of the trade
// `b.Trade`. The version contains only the fields that the owner sees on the first visit (docs/decisions/030).
// Customers cannot book yet: first the caller must call [OpenBookings] on the fields and publish the result. If the
// values of `b` are invalid, CreateBusiness returns the problems and publishes nothing. A person who is not an operator
// becomes the owner of the business.
//
// Faults: precondition_failed if the slug is taken; invalid_parameter for an unknown trade; forbidden if the principal
// may not create businesses; conflict if the person owns too many businesses.
func (o *UseCases) CreateBusiness(ctx context.Context, by peers.Principal, b NewBusiness) (*catalog.Published,
	[]manifest.Problem, error) {
	if err := by.RequireAnywhere(access.CreateBusiness); err != nil {
		return nil, nil, err
	}
	text, err := template.RenderManifest(b.Trade, template.Business{
		Slug: b.Slug(), Name: b.Name, Currency: "EUR", Timezone: "UTC",
		Today: timespan.DateOf(o.Clock.Now(), o.Clock.Now().UTC().Location()),
	})
	if err != nil {
		return nil, nil, fault.Newf(fault.InvalidParameter, "trade: choose one of %s.",
			strings.Join(template.ListTrades(), ", "))
	}
	first, problems, err := readDocument(ctx, b.Slug(), []byte(text))
	if err != nil || len(problems) > 0 {
		return nil, problems, err
	}
	fields, err := first.Fields()
	if err != nil {
		return nil, nil, err
	}
	fields["currency"], fields["timezone"], fields["default_language"], fields["languages"] = b.Currency, b.Timezone,
		b.Language, []any{b.Language}
	if b.Street+b.PostalCode+b.City != "" {
		fields["locations"] = []any{document.Fields{"key": catalog.KindPlace, "kind": catalog.KindPlace,
			"address": b.address()}}
	}
	if b.Email != "" {
		notified, _ := fields["notifications"].(document.Fields)
		if notified == nil {
			notified = document.Fields{}
		}
		notified["owner_emails"] = []any{b.Email}
		fields["notifications"] = notified
	}
	fields["open"] = false
	if !by.IsOperator {
		fields["id"] = newBusinessID(ctx, by).String()
	}
	keepShownFields(fields)
	first, problems, err = rewriteFields(ctx, b.Slug(), first, fields)
	if err != nil || len(problems) > 0 {
		return nil, problems, err
	}
	published, err := o.publishFirst(ctx, by, b.Slug(), first.Text)
	if err == nil {
		o.LogChange(ctx, by, "publish", b.Slug(), slog.Int64("version", published.Version))
	}
	return published, nil, err
}

// newBusinessID returns the id of a business that a person creates. The id depends on the idempotency key of the request,
// so that a repeated request names the same business.
func newBusinessID(ctx context.Context, by peers.Principal) uuid.UUID {
	return uuid.NewSHA1(by.ID, []byte(idempotency.Of(ctx).Key))
}

// publishFirst publishes the first version of a business. Before this, it makes the person the owner, so that no
// business remains without an owner if the connection fails. If the business certainly does not exist, publishFirst
// reverts this.
func (o *UseCases) publishFirst(ctx context.Context, by peers.Principal, slug string,
	text []byte) (*catalog.Published, error) {
	if by.IsOperator {
		return o.Businesses.Binding(true).Create(ctx, slug, text, catalog.MediaYAML)
	}
	id := newBusinessID(ctx, by)
	isNew, err := o.Owners.BeginOwnBusiness(ctx, by, id)
	if err != nil {
		return nil, err
	}
	published, err := o.Businesses.Create(ctx, slug, text, catalog.MediaYAML)
	if err != nil && isNew && isRefused(err) {
		return nil, errors.Join(err, o.Owners.DropOwnBusiness(ctx, by, id))
	}
	return published, err
}

// isRefused reports whether the write that caused the fault `err` was certainly not made, and no repetition of it is
// being made.
func isRefused(err error) bool {
	unsure := []fault.Kind{fault.OutcomeUnknown, fault.IdempotencyInProgress, fault.IdempotencyMismatch, fault.Internal}
	return !slices.Contains(unsure, fault.KindOf(err))
}

// keepShownFields deletes the fields that the forms of the first visit do not show. Otherwise the business would offer
// something that its owner has not seen.
func keepShownFields(fields document.Fields) {
	delete(fields, "form")
	for _, member := range listObjects(fields, "staff") {
		delete(member, "hours")
	}
	for _, list := range sellableLists {
		remaining := []any{}
		for _, item := range listObjects(fields, list) {
			if item["add_on"] == true {
				continue
			}
			for _, unseen := range []string{"description_html", "variants", "upsells", "buffer_before_minutes",
				"buffer_after_minutes"} {
				delete(item, unseen)
			}
			remaining = append(remaining, item)
		}
		if len(remaining) > 0 {
			fields[list] = remaining
		}
	}
}

// EnableModule switches on the module of a list of the manifest. The list "services", "events" or "rentals" has a
// module with the same name.
func EnableModule(fields document.Fields, list string) {
	if IsModuleOff(fields, list) {
		fields["modules"].(document.Fields)[list] = true
	}
}

// IsModuleOff reports whether the module of a list of the manifest is switched off. The list "services", "events" or
// "rentals" has a module with the same name.
func IsModuleOff(fields document.Fields, list string) bool {
	modules, _ := fields["modules"].(document.Fields)
	return modules[list] == false
}

// listObjects returns the objects in one list of the manifest. It leaves out items of the list that are not objects.
func listObjects(fields document.Fields, list string) []document.Fields {
	items, _ := fields[list].([]any)
	var all []document.Fields
	for _, item := range items {
		if object, ok := item.(document.Fields); ok {
			all = append(all, object)
		}
	}
	return all
}

// OpenBookings sets the field `open` of a manifest to true. Customers can book as soon as this manifest is published.
func OpenBookings(fields document.Fields) { fields["open"] = true }

// Results of [FindMissingToOpen]: the business offers nothing, or working hours are missing that its services or
// rentals need.
const (
	LacksOffer = "offer"
	LacksHours = "hours"
)

// FindMissingToOpen returns [LacksOffer] if the manifest has no active service, event or rental. It returns
// [LacksHours] if a service or rental needs working hours, but the business and all members have no hours. It returns
// "" if customers can book after the caller has called [OpenBookings] and published the manifest.
func FindMissingToOpen(fields document.Fields) string {
	isOffered, withinHours := false, false
	for _, list := range sellableLists {
		for _, item := range listObjects(fields, list) {
			if item["active"] == false {
				continue
			}
			isOffered = true
			withinHours = withinHours || list == "services" && item["classes"] == nil ||
				list == "rentals" && item["outside_hours"] != true
		}
	}
	switch {
	case !isOffered:
		return LacksOffer
	case withinHours && !hasHours(fields) && !slices.ContainsFunc(listObjects(fields, "staff"), hasHours):
		return LacksHours
	}
	return ""
}

// hasHours reports whether a business or a member has working hours on at least one weekday or single date.
func hasHours(of document.Fields) bool {
	week, _ := of["hours"].(document.Fields)
	for _, windows := range week {
		if list, _ := windows.([]any); len(list) > 0 {
			return true
		}
	}
	return slices.ContainsFunc(listObjects(of, "overrides"), func(date document.Fields) bool {
		list, _ := date["hours"].([]any)
		return len(list) > 0
	})
}

// UpdateStaff updates the staff of all services and class sessions after a person added or removed members. The
// argument `before` has the keys that the members had before this change. UpdateStaff adds each new member to every
// service that lists its staff. If all members that a service lists were removed, the service lists the whole team. If
// the member of a class session was removed, the first member of the team takes over the session.
func UpdateStaff(fields document.Fields, before []string) {
	var now, added []any
	for _, member := range listObjects(fields, "staff") {
		if key, _ := member["key"].(string); key != "" {
			now = append(now, key)
			if !slices.Contains(before, key) {
				added = append(added, key)
			}
		}
	}
	for _, service := range listObjects(fields, "services") {
		if doing, has := service["staff"].([]any); has {
			doing = append(slices.DeleteFunc(slices.Clone(doing), func(key any) bool {
				return !slices.Contains(now, key)
			}), added...)
			if len(doing) == 0 {
				doing = now
			}
			if service["staff"] = doing; len(doing) == 0 {
				delete(service, "staff")
			}
		}
		for _, session := range listObjects(service, "classes") {
			if by, has := session["staff"]; has && !slices.Contains(now, by) {
				if delete(session, "staff"); len(now) > 0 {
					session["staff"] = now[0]
				}
			}
		}
	}
}

// PlaceLast sets the field `order` of a new object, so that the object comes last in its list. PlaceLast sets the field
// only if another object of the list has the field and the new object does not have the field yet.
func PlaceLast(fields document.Fields, list string, object document.Fields) {
	last := 0
	for _, other := range listObjects(fields, list) {
		n, _ := other["order"].(json.Number)
		if place, err := strconv.Atoi(n.String()); err == nil {
			last = max(last, place)
		}
	}
	if _, placed := object["order"]; last > 0 && !placed {
		object["order"] = json.Number(strconv.Itoa(last + 1))
	}
}

// PlaceNewObjects calls [PlaceLast] for all objects in the lists whose names are in the argument `listNames`.
func PlaceNewObjects(fields document.Fields, listNames ...string) {
	for _, list := range listNames {
		for _, object := range listObjects(fields, list) {
			PlaceLast(fields, list, object)
		}
	}
}

// ListKeys returns the keys of the objects of a list, in the order of the list.
func ListKeys(fields document.Fields, list string) []string {
	var keys []string
	for _, item := range listObjects(fields, list) {
		if key, ok := document.NameOf(item); ok {
			keys = append(keys, key)
		}
	}
	return keys
}
