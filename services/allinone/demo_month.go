package allinone

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"time"

	"github.com/sethvargo/go-retry"

	"github.com/slotmesh/slotmesh/libs/contracts/booking"
	"github.com/slotmesh/slotmesh/libs/contracts/rental"
	"github.com/slotmesh/slotmesh/libs/platform/idempotency"
	"github.com/slotmesh/slotmesh/libs/values/zone"
)

// demoOrders are the bookings that the demo business gets each week. Times are in the time zone of the business. The
// API key creates some bookings, which stay pending until the business confirms them. The owner creates all other
// bookings.
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

// demoCustomers are the names of the demo business's customers. The bookings use the names in turn.
var demoCustomers = []string{
	"Ada Example", "Bruno Costa", "Clara Neves", "Diego Rocha", "Eva Lind", "Farid Haddad", "Grace Okafor",
	"Hugo Martins", "Inês Prado", "Jonas Weber", "Kana Mori",
}

// demoMonth is the number of days with bookings, beginning with the day on which the demo business is published.
const demoMonth = 30

// demoMonthFile is the name of a file in the home folder. It stores how many of the demo's writes for the month are
// done ([demoProgress]). When all are done, the file is deleted.
const demoMonthFile = "demo-month"

// demoProgress is the content of demoMonthFile: the progress of the demo's writes for the month.
type demoProgress struct {
	Database string    `json:"database"` // host and path of the database URL; a later start may use another database
	From     time.Time `json:"from"`     // time at which the demo business was published; the month begins on this date
	Written  int       `json:"made"`     // number of writes of the month that are done
}

// beginMonth stores that the demo's bookings for the month must be created ([Process.bookMonth]). beginMonth is called
// before the demo business is published. If the process ends before all bookings exist, the next start continues.
func (p *Process) beginMonth() error {
	return p.saveProgress(demoProgress{Database: describeAddress(p.cfg.DatabaseURL), From: p.clock.Now()})
}

// saveProgress replaces demoMonthFile atomically, so that no process reads an incomplete file.
func (p *Process) saveProgress(progress demoProgress) error {
	text, err := json.Marshal(progress)
	if err != nil {
		return err
	}
	path := p.file(demoMonthFile)
	if err := os.WriteFile(path+".new", text, 0o600); err != nil {
		return err
	}
	return os.Rename(path+".new", path)
}

// bookMonth creates the demo business's bookings, reservations and ticket orders for a month, as the owner and with the
// API key. Apart from the dates, they are the same on every machine.
//
// If demoMonthFile does not exist or belongs to another database, bookMonth does nothing. Otherwise it continues after
// the last write that the file counts. Each write has an Idempotency-Key, so that an interrupted write has an effect
// only once. bookMonth skips a write that the service refuses because the business is closed or the time has passed.
func (p *Process) bookMonth(ctx context.Context) error {
	text, err := os.ReadFile(p.file(demoMonthFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	var progress demoProgress
	if err := errors.Join(err, json.Unmarshal(text, &progress)); err != nil {
		return fmt.Errorf("%s cannot be read (without it the month stays as it is): %w", p.file(demoMonthFile), err)
	}
	if progress.Database != describeAddress(p.cfg.DatabaseURL) {
		return nil
	}
	o, err := p.loadDemoOffer(ctx)
	if err != nil {
		return err
	}
	writes := o.listWrites(progress.From)
	for progress.Written < len(writes) {
		if err := p.writeDemo(ctx, writes[progress.Written], progress); err != nil {
			return err
		}
		progress.Written++
		if err := p.saveProgress(progress); err != nil {
			return err
		}
	}
	return os.Remove(p.file(demoMonthFile))
}

// demoWrite is a request that creates one booking, reservation or ticket order.
type demoWrite struct {
	path    string // path in the owner's API, after the path of the business
	usesKey bool   // whether the request is sent with the demo's API key
	body    any
}

// writeDemo sends one write of the month, as the owner or with the demo's API key. Each write with the API key has a
// different client address (from RFC 5737), so that no rate limit counts the writes together.
func (p *Process) writeDemo(ctx context.Context, w demoWrite, progress demoProgress) error {
	body, err := json.Marshal(w.body)
	if err != nil {
		return err
	}
	url, token := p.AdminURL+"/admin/businesses/"+demoSlug+w.path, p.AdminToken
	if w.usesKey {
		url, token = p.ports.findURL("booking")+"/api/public/"+demoSlug+"/book", p.Demo.Key
	}
	header := http.Header{
		"Authorization": {"Bearer " + token}, "Content-Type": {"application/json"},
		"X-Forwarded-For":  {fmt.Sprintf("192.0.2.%d", 2+progress.Written%250)},
		idempotency.Header: {fmt.Sprintf("demo-%d-%d", progress.From.UnixNano(), progress.Written)},
	}
	return retry.Do(ctx, retry.WithMaxDuration(demoRetryTimeout, retry.NewConstant(time.Second)),
		func(ctx context.Context) error {
			status, answer, err := sendRequest(ctx, http.MethodPost, url, header, body)
			if err == nil && status == http.StatusServiceUnavailable {
				return retry.RetryableError(checkStatus(http.StatusCreated, status, answer, nil))
			}
			return checkDemoWrite(status, answer, err)
		})
}

// demoRetryTimeout is how long writeDemo retries a write while a busy service answers 503. All retries have the same
// Idempotency-Key, so that the write has an effect only once.
const demoRetryTimeout = 10 * time.Second

// checkDemoWrite returns nil if a write of the month succeeded, or if the service refused it because of opening hours
// or occupied times. Otherwise it returns an error.
func checkDemoWrite(status int, body []byte, err error) error {
	if err != nil || status == http.StatusCreated || status == http.StatusConflict || status == http.StatusBadRequest {
		return err
	}
	return checkStatus(http.StatusCreated, status, body, nil)
}

// listWrites returns the requests of the month in order: the bookings of all days, the reservations of kayaks with life
// vests, and the ticket orders of all events.
func (o *demoOffer) listWrites(from time.Time) []demoWrite {
	today := from.In(o.zone)
	var all []demoWrite
	for day := range demoMonth {
		date := today.AddDate(0, 0, day)
		for _, order := range demoOrders {
			if order.weekday != date.Weekday() {
				continue
			}
			guest := len(all) % len(demoCustomers)
			newBooking := booking.NewBooking{
				ServiceIDs: []string{o.services[order.service]}, Date: date.Format(time.DateOnly), Time: order.time,
				CustomerName: demoCustomers[guest], CustomerEmail: fmt.Sprintf("guest%d@example.com", guest),
				PaymentChoice: new("at_door"), Override: !order.byKey,
			}
			if order.with != "" {
				newBooking.StaffID = new(o.staff[order.with])
			}
			all = append(all, demoWrite{"/bookings", order.byKey && day > 0, newBooking})
		}
	}
	for i, day := range []int{0, 1, 3, 8} {
		date := today.AddDate(0, 0, day).Format(time.DateOnly)
		all = append(all, demoWrite{path: "/reservations", body: rental.NewReservation{
			RentalID: o.rentals["Kayak"], StartDate: date, EndDate: date, StartTime: new("10:00"),
			EndTime: new("12:00"), Quantity: 1 + i%2,
			Extras:       []rental.NewExtra{{RentalID: o.rentals["Life vest"], Quantity: 1 + i%2}},
			CustomerName: demoCustomers[i], CustomerEmail: new(fmt.Sprintf("guest%d@example.com", i)),
		}})
	}
	for i, event := range o.events {
		all = append(all, demoWrite{path: "/tickets", body: map[string]any{
			"event_id": event.ID, "tier_id": event.Inventory[0].ID, "quantity": 2,
			"customer_name": demoCustomers[i%len(demoCustomers)],
		}})
	}
	return all
}

// demoOffer contains the IDs of the demo business's services, staff members and rentals by name.
type demoOffer struct {
	zone                     *time.Location
	services, staff, rentals map[string]string
	events                   []demoEvent
}

type demoEvent struct {
	ID        string
	Inventory []struct{ ID string }
}

func (p *Process) loadDemoOffer(ctx context.Context) (*demoOffer, error) {
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
	for path, into := range map[string]any{"info": &info, "services": &services, "staff": &staff, "rentals": &rentals,
		"events": &events} {
		if err := p.getPublic(ctx, "catalog", path, into); err != nil {
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
	o.services, o.staff, o.rentals = byName(services.Services), byName(staff.Staff),
		byName(append(rentals.Rentals, rentals.AddOns...))
	var err error
	o.zone, err = zone.Load(info.Timezone)
	return o, err
}
