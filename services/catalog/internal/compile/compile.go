// Package compile turns a manifest, which a business owner wrote, into the snapshot, which other
// services use for computations. It applies defaults, replaces keys by ids, converts prices to
// minor units, and sorts lists into the order in which they are used. It has no side effects.
package compile

import (
	"fmt"
	"time"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/contracts/catalog"
	"github.com/slotmesh/slotmesh/libs/contracts/manifest"
	"github.com/slotmesh/slotmesh/libs/values/money"
)

// compiler holds the manifest and maps from the keys of its objects to their ids.
type compiler struct {
	m        *manifest.Manifest
	id       uuid.UUID // id of the business
	currency money.Currency
	staff    map[manifest.Key]uuid.UUID
	services map[manifest.Key]uuid.UUID
	events   map[manifest.Key]uuid.UUID
	rentals  map[manifest.Key]uuid.UUID
	// locations holds the ids of the locations.
	locations map[manifest.Key]uuid.UUID
	pictures  map[string]catalog.Picture
	err       error // the first error
}

// Snapshot compiles one version of a manifest. The caller must call [catalog.Snapshot.Prepare] on the result.
// A manifest that [manifest.Parse] accepted always compiles. For any other manifest, Snapshot returns an
// error if the currency is unknown, a key refers to nothing, or the currency cannot express an amount.
//
// The argument `pictures` holds the business's uploaded pictures
// by id. The result omits each picture that is not in `pictures`.
func Snapshot(m *manifest.Manifest, pictures map[string]catalog.Picture, version int64) (*catalog.Snapshot, error) {
	c, err := newCompiler(m)
	if err != nil {
		return nil, err
	}
	c.pictures = pictures
	snapshot := c.business(version)
	c.setPlace(snapshot)
	snapshot.Hours = compileWeek(&m.Hours)
	snapshot.Overrides = compileOverrides(m.Overrides)
	snapshot.Blocks = convertAll(m.Blocks, c.block)
	snapshot.Staff = c.staffList()
	snapshot.Services = c.serviceList()
	snapshot.Packages = convertAll(m.Packages, c.bundle)
	snapshot.Events = c.eventList()
	snapshot.Rentals = c.rentalList()
	snapshot.Rules = c.ruleList()
	snapshot.PriceNeeds = listPriceInputs(snapshot.Rules)
	if c.err != nil {
		return nil, c.err
	}
	return snapshot, nil
}

func newCompiler(m *manifest.Manifest) (*compiler, error) {
	currency, err := money.ParseCurrency(string(m.Currency))
	if err != nil {
		return nil, fmt.Errorf("currency: %w", err)
	}
	id := m.BusinessID()
	return &compiler{
		m: m, id: id, currency: currency,
		staff: idsByKey(m.Staff, func(s *manifest.Staff) (manifest.Key, uuid.UUID) { return s.Key, s.ObjectID(id) }),
		services: idsByKey(m.Services, func(s *manifest.Service) (manifest.Key, uuid.UUID) {
			return s.Key, s.ObjectID(id)
		}),
		events: idsByKey(m.Events, func(e *manifest.Event) (manifest.Key, uuid.UUID) { return e.Key, e.ObjectID(id) }),
		rentals: idsByKey(m.Rentals, func(r *manifest.Rental) (manifest.Key, uuid.UUID) {
			return r.Key, r.ObjectID(id)
		}),
		locations: idsByKey(m.Locations, func(l *manifest.Location) (manifest.Key, uuid.UUID) {
			return l.Key, l.ObjectID(id)
		}),
	}, nil
}

func idsByKey[T any](list []T, of func(*T) (manifest.Key, uuid.UUID)) map[manifest.Key]uuid.UUID {
	ids := make(map[manifest.Key]uuid.UUID, len(list))
	for i := range list {
		key, id := of(&list[i])
		ids[key] = id
	}
	return ids
}

// business returns a snapshot with the top-level fields of the manifest, without staff, services, events, rentals and
// the other objects that have keys.
func (c *compiler) business(version int64) *catalog.Snapshot {
	m, bookings := c.m, c.m.BookingSettings()
	return &catalog.Snapshot{
		ID:       c.id,
		Slug:     string(m.Slug),
		Version:  version,
		Name:     string(m.Name),
		Currency: c.currency.Code,
		Timezone: string(m.Timezone),

		NameTranslations: translationsOf(m.Translations, func(t manifest.BusinessTranslation) string {
			return string(t.Name)
		}),

		DefaultLanguage: string(m.DefaultLanguage),
		Languages:       convertAll(m.OfferedLanguages(), func(l *manifest.Language) string { return string(*l) }),
		Modules:         catalog.Modules{Services: m.UsesServices(), Events: m.UsesEvents(), Rentals: m.UsesRentals()},
		Payments:        compilePayments(m),
		Account: catalog.Account{SubscriptionActive: m.HasActiveSubscription(), RemovalOn: m.RemovalOn(),
			Sandbox: m.IsSandbox()},
		NotYetOpen: !m.IsOpen(),
		Bookings: catalog.Bookings{
			PausedUntil:         bookings.PausedUntil,
			SlotIntervalMinutes: *bookings.SlotIntervalMinutes,
			MinNoticeMinutes:    bookings.MinNoticeMinutes,
			AdvanceDays:         *bookings.AdvanceDays,
			AutoConfirm:         bookings.ConfirmsAutomatically(),
			MaxOpenPerCustomer:  *bookings.MaxOpenPerCustomer,

			LocationChangeMinutes: bookings.LocationChangeMinutes,
		},
		CancellationPolicy: convertAll(m.CancellationPolicy,
			func(s *manifest.CancellationStep) catalog.CancellationRule {
				return catalog.CancellationRule(*s)
			}),
		CoolingOffHours: m.CoolingOffHours,
		SelfService: catalog.SelfService{CancelUntilHours: m.CancelUntilHours(),
			RescheduleUntilHours: m.RescheduleUntilHours()},
		Notifications:  compileNotifications(m.NotificationSettings()),
		Privacy:        catalog.Privacy{KeepCustomersDays: m.KeepCustomersDays()},
		Page:           c.page(m.PageSettings()),
		Logo:           c.picture(m.Logo),
		Form:           convertAll(m.Form, c.question),
		FormEnforceAPI: m.FormEnforceAPI,
	}
}

func compileNotifications(n manifest.Notifications) catalog.Notifications {
	return catalog.Notifications{
		OwnerEmails:          convertAll(n.OwnerEmails, func(e *manifest.Email) string { return string(*e) }),
		ReplyTo:              string(n.ReplyTo),
		RemindersHoursBefore: n.RemindersHoursBefore,
		Notes:                compileNotes(n.Notes),
		Intros:               compileNotes(n.Intros),
	}
}

// compileNotes returns texts by kind of message, or nil if there are none.
func compileNotes(source map[manifest.MessageKind]manifest.Note) map[string]catalog.Note {
	if len(source) == 0 {
		return nil
	}
	notes := make(map[string]catalog.Note, len(source))
	for kind, note := range source {
		notes[string(kind)] = catalog.Note{Text: note.Text,
			Translations: translationsOf(note.Translations, func(t manifest.NoteTranslation) string { return t.Text })}
	}
	return notes
}

func compilePayments(m *manifest.Manifest) catalog.Payments {
	p := catalog.Payments{Providers: m.PaymentProviders(), Modes: catalog.PaymentModes(m.PaymentModes())}
	for provider, account := range m.PaymentAccounts() {
		if p.Accounts == nil {
			p.Accounts = map[string]string{}
		}
		p.Accounts[provider] = string(account)
	}
	return p
}

func compileWeek(hours *manifest.WeekHours) catalog.WeekHours {
	var w catalog.WeekHours
	for day := time.Sunday; day <= time.Saturday; day++ {
		w[day] = hours.On(day)
	}
	return w
}

func compileOverrides(list []manifest.DayOverride) []catalog.DayOverride {
	days := convertAll(list, func(o *manifest.DayOverride) catalog.DayOverride { return catalog.DayOverride(*o) })
	sortBy(days, func(a, b *catalog.DayOverride) int { return int(a.Date) - int(b.Date) })
	return days
}

func (c *compiler) block(b *manifest.Block) catalog.Block {
	return catalog.Block{From: b.From, To: b.To, StaffIDs: c.resolveAll(b.Staff, c.staff), Reason: b.Reason}
}

// resolve returns the id of a key. If no object has the key, the compilation fails.
func (c *compiler) resolve(key manifest.Key, ids map[manifest.Key]uuid.UUID) uuid.UUID {
	id, ok := ids[key]
	if !ok {
		c.fail(fmt.Errorf("the key %q names nothing", key))
	}
	return id
}

// resolveAll returns the ids of the keys. If no object has one of the keys, the compilation fails.
func (c *compiler) resolveAll(keys []manifest.Key, ids map[manifest.Key]uuid.UUID) []uuid.UUID {
	return convertAll(keys, func(k *manifest.Key) uuid.UUID { return c.resolve(*k, ids) })
}

// resolveOrNil returns the id of a key, or nil for the empty key.
func (c *compiler) resolveOrNil(key manifest.Key, ids map[manifest.Key]uuid.UUID) *uuid.UUID {
	if key == "" {
		return nil
	}
	return new(c.resolve(key, ids))
}

// minor returns the amount d in minor units of the business's currency.
// If the currency cannot express the amount, the compilation fails.
func (c *compiler) minor(d manifest.Decimal) int64 {
	amount, err := c.currency.Minor(d.Decimal)
	c.fail(err)
	return amount
}

func (c *compiler) minorOrNil(d *manifest.Decimal) *int64 {
	if d == nil {
		return nil
	}
	amount := c.minor(*d)
	return &amount
}

func (c *compiler) fail(err error) {
	if c.err == nil {
		c.err = err
	}
}

// convertAll returns the results of the function `to` for all elements of `list`. For an empty list, convertAll returns
// nil.
func convertAll[T, U any](list []T, to func(*T) U) []U {
	if len(list) == 0 {
		return nil
	}
	out := make([]U, len(list))
	for i := range list {
		out[i] = to(&list[i])
	}
	return out
}
