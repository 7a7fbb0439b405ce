package allinone

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/slotmesh/slotmesh/libs/peer/booking"
	"github.com/slotmesh/slotmesh/libs/peer/rental"
)

// demoOrders are what is booked at the demo business on the days of a week, in its own time. Who asked by the interface waits to be
// confirmed; all others are booked by the business itself.
var demoOrders = []struct {
	weekday             time.Weekday
	time, service, with string
	byKey               bool
}{
	{time.Monday, "10:00", "Haircut", "Anna", false},
	{time.Monday, "10:30", "Haircut", "Ben", false},
	{time.Monday, "15:00", "Sauna", "", false},
	{time.Monday, "18:30", "Yoga class", "", false},
	{time.Tuesday, "09:15", "Haircut", "Ben", false},
	{time.Tuesday, "11:00", "Haircut", "Anna", false},
	{time.Tuesday, "16:00", "Haircut", "Ben", true},
	{time.Wednesday, "09:00", "Haircut", "Anna", false},
	{time.Wednesday, "12:30", "Haircut", "Ben", false},
	{time.Wednesday, "17:00", "Sauna", "", false},
	{time.Thursday, "10:15", "Haircut", "Anna", false},
	{time.Thursday, "14:00", "Haircut", "Ben", true},
	{time.Friday, "09:30", "Haircut", "Ben", false},
	{time.Friday, "11:45", "Haircut", "Anna", false},
	{time.Friday, "20:30", "Sauna", "", true},
}

// demoGuests book in turns.
var demoGuests = []string{
	"Ada Example", "Bruno Costa", "Clara Neves", "Diego Rocha", "Eva Lind", "Farid Haddad", "Grace Okafor", "Hugo Martins", "Inês Prado", "Jonas Weber", "Kana Mori",
}

// demoMonth is for how many days from today on there are bookings.
const demoMonth = 30

// bookMonth books, rents and sells at the demo business what a month shows, as its owner and by its key: the same on every machine, but for
// its dates. What cannot be booked, as the business is closed or it is too late, is left out.
func (p *Process) bookMonth(ctx context.Context) error {
	o, err := p.demoOffer(ctx)
	if err != nil {
		return err
	}
	today := p.clock.Now().In(o.zone)
	guest := 0
	for day := range demoMonth {
		date := today.AddDate(0, 0, day)
		for _, order := range demoOrders {
			if order.weekday != date.Weekday() {
				continue
			}
			wanted := booking.NewBooking{
				ServiceIDs: []string{o.services[order.service]}, Date: date.Format(time.DateOnly), Time: order.time,
				CustomerName: demoGuests[guest%len(demoGuests)], CustomerEmail: fmt.Sprintf("guest%d@example.com", guest%len(demoGuests)),
				PaymentChoice: new("at_door"), Override: !order.byKey,
			}
			if order.with != "" {
				wanted.StaffID = new(o.staff[order.with])
			}
			guest++
			if err := p.bookDemo(ctx, wanted, order.byKey && day > 0, guest); err != nil {
				return err
			}
		}
	}
	return p.rentDemo(ctx, o, today)
}

// bookDemo books as the owner, or by the demo's key: then each time from another address for documentation (RFC 5737), so that no limit counts
// them together.
func (p *Process) bookDemo(ctx context.Context, wanted booking.NewBooking, byKey bool, n int) error {
	body, err := json.Marshal(wanted)
	if err != nil {
		return err
	}
	if !byKey {
		return leftOut(p.admin(ctx, http.MethodPost, "/bookings", body))
	}
	header := http.Header{"Authorization": {"Bearer " + p.Demo.Key}, "Content-Type": {"application/json"}, "X-Forwarded-For": {fmt.Sprintf("192.0.2.%d", 2+n%250)}}
	return leftOut(request(ctx, http.MethodPost, p.ports.url("booking")+"/api/public/"+demoSlug+"/book", header, body))
}

// leftOut takes what was made, and what the business's hours or what is taken keep from being made.
func leftOut(status int, body []byte, err error) error {
	if err != nil || status == http.StatusCreated || status == http.StatusConflict || status == http.StatusBadRequest {
		return err
	}
	return expect(http.StatusCreated, status, body, nil)
}

// rentDemo has kayaks reserved, one of which is out, and sells tickets of all events.
func (p *Process) rentDemo(ctx context.Context, o *demoOffer, today time.Time) error {
	for i, day := range []int{0, 1, 3, 8} {
		date := today.AddDate(0, 0, day).Format(time.DateOnly)
		body, err := json.Marshal(rental.NewReservation{
			RentalID: o.rentals["Kayak"], StartDate: date, EndDate: date, StartTime: new("10:00"), EndTime: new("12:00"), Quantity: 1 + i%2,
			Extras:       []rental.NewExtra{{RentalID: o.rentals["Life vest"], Quantity: 1 + i%2}},
			CustomerName: demoGuests[i], CustomerEmail: new(fmt.Sprintf("guest%d@example.com", i)),
		})
		if err != nil {
			return err
		}
		if err := leftOut(p.admin(ctx, http.MethodPost, "/reservations", body)); err != nil {
			return err
		}
	}
	for i, event := range o.events {
		body := `{"event_id": ` + strconv.Quote(event.ID) + `, "tier_id": ` + strconv.Quote(event.Inventory[0].ID) + `, "quantity": 2, "customer_name": ` +
			strconv.Quote(demoGuests[i%len(demoGuests)]) + `}`
		if err := leftOut(p.admin(ctx, http.MethodPost, "/tickets", []byte(body))); err != nil {
			return err
		}
	}
	return nil
}

// demoOffer is what the demo business offers, by name.
type demoOffer struct {
	zone                     *time.Location
	services, staff, rentals map[string]string
	events                   []demoEvent
}

type demoEvent struct {
	ID        string
	Inventory []struct{ ID string }
}

func (p *Process) demoOffer(ctx context.Context) (*demoOffer, error) {
	type named struct{ ID, Name string }
	var info struct{ Timezone string }
	var services struct{ Services []named }
	var staff struct{ Staff []named }
	var rentals struct {
		Rentals []named
		AddOns  []named `json:"add_on_rentals"`
	}
	o := &demoOffer{}
	var events struct{ Events []demoEvent }
	for path, into := range map[string]any{"info": &info, "services": &services, "staff": &staff, "rentals": &rentals, "events": &events} {
		if err := p.ask(ctx, "catalog", path, into); err != nil {
			return nil, err
		}
	}
	byName := func(list []named) map[string]string {
		ids := map[string]string{}
		for _, n := range list {
			ids[n.Name] = n.ID
		}
		return ids
	}
	o.events = events.Events
	o.services, o.staff, o.rentals = byName(services.Services), byName(staff.Staff), byName(append(rentals.Rentals, rentals.AddOns...))
	var err error
	o.zone, err = time.LoadLocation(info.Timezone)
	return o, err
}
