package soak

import (
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"
)

// business is a business of the soak, with the data of its manifest. The services of the business and their capacities
// stay the same. The owner only closes days and makes staff members inactive.
type business struct {
	slug     string
	id       uuid.UUID
	services []*service
	staff    []string // keys of the staff members, in order
	events   []*ticketEvent
	paid     []*ticketEvent // ticketed events that are paid online
	rentals  []*rental

	isExact bool // the owner changes nothing, so every refusal means that the time is occupied
}

// service is a service in the manifest of a business.
type service struct {
	key           string
	id            uuid.UUID
	minutes       int
	before, after int // buffers before and after a booking, in minutes
	staff         []string
	capacity      int    // number of parallel places, or of seats in each class session
	session       string // key of the daily class session, which begins at sessionTime; or ""
	isPaid        bool
}

type ticketEvent struct {
	id       uuid.UUID
	tiers    []uuid.UUID
	capacity int
}

type rental struct {
	key      string
	id       uuid.UUID
	quantity int
	isHourly bool
	isPaid   bool // whether customers of the booking page pay online
}

const (
	opensAt, closesAt = 8, 20 // full hours, on every day
	intervalMinutes   = 15
	sessionTime       = "19:00" // start of each class session; the teacher has no other bookings at that time
	tierCapacity      = 30
	eventCapacity     = 50 // less than the sum of the seats in the two tiers
	events            = 40
	paidEvents        = 10
	advanceDays       = 3650
	firstDay          = 3 // in days after today; it is in the future for the clock of each replica
	stripeAccount     = "acct_soak"
	priceCents        = 4000
)

// cancellationPolicy is the cancellation policy of both businesses. If a run lasts longer than half a minute, some
// bookings are more than 240 hours in the future and others are not. Cancellations then use both rules of the policy.
var cancellationPolicy = []object{{"hours_before": 0, "refund_percent": 50},
	{"hours_before": 240, "refund_percent": 75}}

// computePolicyRefund returns the refund of the given amount according to cancellationPolicy. computePolicyRefund
// assumes that a day has 24 hours.
func computePolicyRefund(amount int64, cancelled, start time.Time) int64 {
	percent := int64(0)
	for _, rule := range cancellationPolicy { // in ascending order of the hours
		if start.Sub(cancelled) >= time.Duration(rule["hours_before"].(int))*time.Hour {
			percent = int64(rule["refund_percent"].(int))
		}
	}
	return (amount*percent + 50) / 100
}

var weekdays = []string{"mon", "tue", "wed", "thu", "fri", "sat", "sun"}

func (b *business) deriveID(kind, key string) uuid.UUID {
	return uuid.NewSHA1(b.id, []byte(kind+"/"+key))
}

func (b *business) addService(s service) {
	s.id = b.deriveID("service", s.key)
	b.services = append(b.services, &s)
}

func (b *business) findService(key string) *service {
	i := slices.IndexFunc(b.services, func(s *service) bool { return s.key == key })
	return b.services[i]
}

func newBusiness(slug string) *business {
	return &business{slug: slug, id: uuid.NewSHA1(uuid.NameSpaceURL, []byte("soak/"+slug))}
}

// newExactBusiness returns a business whose resources have histories that can be checked separately
// ([workload.checkHistories]). The business sells appointments of half an hour with a named staff member. The possible
// times of these appointments do not overlap. The business also sells seats of a class.
func newExactBusiness() *business {
	b := newBusiness("exact")
	b.isExact = true
	b.staff = []string{"e0", "e1", "teacher"}
	b.addService(service{key: "half", minutes: 30, staff: []string{"e0", "e1"}})
	b.addService(service{key: "ring", minutes: 60, capacity: 5, session: "evening", staff: []string{"teacher"}})
	return b
}

// newMixedBusiness returns a business that sells all kinds of services, tickets and rentals.
func newMixedBusiness() *business {
	b := newBusiness("mixed")
	b.staff = []string{"m0", "m1", "m2", "teacher", "p0"}
	crew := []string{"m0", "m1", "m2"}
	b.addService(service{key: "cut", minutes: 30, after: 10, staff: crew})
	b.addService(service{key: "wash", minutes: 45, before: 5, staff: crew})
	b.addService(service{key: "sauna", minutes: 60, capacity: 3})
	b.addService(service{key: "yoga", minutes: 60, capacity: 6, session: "daily", staff: []string{"teacher"}})
	b.addService(service{key: "paid", minutes: 30, staff: []string{"p0"}, isPaid: true})
	for i := range events + paidEvents {
		key := fmt.Sprintf("event-%d", i)
		b.events = append(b.events, &ticketEvent{
			id: b.deriveID("event", key), tiers: []uuid.UUID{b.deriveID("tier", key+"-a"),
				b.deriveID("tier", key+"-b")},
			capacity: eventCapacity,
		})
	}
	b.events, b.paid = b.events[:events], b.events[events:]
	b.rentals = []*rental{
		{key: "kayak", id: b.deriveID("rental", "kayak"), quantity: 3},
		{key: "bike", id: b.deriveID("rental", "bike"), quantity: 2, isHourly: true},
		{key: "canoe", id: b.deriveID("rental", "canoe"), quantity: 3, isPaid: true},
	}
	return b
}

// edition is a version of the offer, reduced to the parts that the owner changes.
type edition struct {
	closedDates    map[string]bool // set of closed dates
	inactiveMember string          // key of the inactive member, or ""
}

type object = map[string]any

// buildManifest returns the manifest of the business for an edition.
func (b *business) buildManifest(e edition, today time.Time) object {
	hours := object{}
	for _, day := range weekdays {
		hours[day] = []string{fmt.Sprintf("%02d:00-%02d:00", opensAt, closesAt)}
	}
	m := object{
		"apiVersion": "slotmesh/v1", "kind": "Business", "slug": b.slug, "id": b.id, "name": "Soak " + b.slug,
		"currency": "EUR",
		"timezone": "UTC", "default_language": "en", "languages": []string{"en"}, "hours": hours,
		"bookings": object{"confirm": "auto", "slot_interval_minutes": intervalMinutes, "advance_days": advanceDays},
		"staff":    b.buildStaff(e), "services": b.buildServices(),
		"self_service":        object{"cancel_until_hours": 1, "reschedule_until_hours": 1},
		"cancellation_policy": cancellationPolicy,
	}
	var overrides []object
	for date := range e.closedDates {
		overrides = append(overrides, object{"date": date, "hours": []string{}})
	}
	m["overrides"] = overrides
	if len(b.events) > 0 {
		m["events"], m["rentals"] = b.buildEvents(today), b.buildRentals()
		m["payments"] = object{"providers": []string{"stripe"}, "accounts": object{"stripe": stripeAccount},
			"modes": object{"services": "customer_choice", "events": "online", "rentals": "online"}}
	}
	return m
}

func (b *business) buildStaff(e edition) []object {
	var all []object
	for i, key := range b.staff {
		all = append(all, object{"key": key, "id": b.deriveID("staff", key), "name": "Member " + key, "order": i,
			"active": key != e.inactiveMember})
	}
	return all
}

func (b *business) buildServices() []object {
	var all []object
	for i, s := range b.services {
		o := object{
			"key": s.key, "id": s.id, "name": s.key, "duration_minutes": s.minutes, "order": i,
			"price":                 priceCents / 100,
			"buffer_before_minutes": s.before, "buffer_after_minutes": s.after,
		}
		switch {
		case s.session != "":
			var sessions []object
			for _, day := range weekdays {
				sessions = append(sessions, object{
					"key": s.session + "-" + day, "id": b.deriveID("class", s.session+"-"+day), "weekday": day,
					"time":     sessionTime,
					"capacity": s.capacity, "staff": s.staff[0],
				})
			}
			o["classes"] = sessions
		case len(s.staff) > 0:
			o["staff"] = s.staff
		default:
			o["capacity"] = s.capacity
		}
		if s.isPaid {
			o["payment_requirement"] = "full"
		}
		all = append(all, o)
	}
	return all
}

func (b *business) buildEvents(today time.Time) []object {
	var all []object
	for i, e := range slices.Concat(b.events, b.paid) {
		var tiers []object
		for j, tier := range e.tiers {
			tiers = append(tiers, object{"key": fmt.Sprintf("t%d", j), "id": tier, "name": "Tier", "price": 10,
				"capacity": tierCapacity})
		}
		event := object{
			"key": fmt.Sprintf("event-%d", i), "id": e.id, "name": fmt.Sprintf("Event %d", i),
			"total_capacity": e.capacity, "tiers": tiers,
			"date": today.AddDate(0, 0, 300).Format(time.DateOnly), "start_time": "20:00", "end_time": "23:00",
		}
		if i >= events {
			event["payment_requirement"] = "full"
		}
		all = append(all, event)
	}
	return all
}

func (b *business) buildRentals() []object {
	var all []object
	for _, r := range b.rentals {
		kind := "daily"
		if r.isHourly {
			kind = "hourly"
		}
		rented := object{
			"key": r.key, "id": r.id, "name": r.key, "price": 10, "price_type": kind, "quantity": r.quantity,
			"units_count": r.quantity,
		}
		if r.isPaid {
			rented["payment_requirement"] = "full"
		}
		all = append(all, rented)
	}
	return all
}
