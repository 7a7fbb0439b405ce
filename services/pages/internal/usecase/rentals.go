package usecase

import (
	"context"
	"encoding/json"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/fault"
	"github.com/slotmesh/slotmesh/libs/message"
	"github.com/slotmesh/slotmesh/libs/peer/catalog"
	"github.com/slotmesh/slotmesh/libs/peer/pricing"
	"github.com/slotmesh/slotmesh/libs/peer/rental"
	"github.com/slotmesh/slotmesh/libs/timespan"
)

// Rental is a rental as /rentals shows it in one language, with what is offered along with it.
type Rental struct {
	ID                 uuid.UUID    `json:"id"`
	Name               string       `json:"name"`
	Description        string       `json:"description"`
	DescriptionHTML    string       `json:"description_html"`
	Category           string       `json:"category"`
	Price              json.Number  `json:"price"` // of an hour or a day, as PriceType says
	QuotedPrice        *json.Number `json:"quoted_price"`
	PriceType          string       `json:"price_type"`
	MaxBookableOnline  *int         `json:"max_bookable_online"` // nil: cannot be told
	ImageURL           string       `json:"image_url"`
	MinDays            *int         `json:"min_rental_days"`
	MaxDays            *int         `json:"max_rental_days"`
	MinHours           *int         `json:"min_rental_hours"`
	MaxHours           *int         `json:"max_rental_hours"`
	PaymentRequirement string       `json:"payment_requirement"`
	DepositValue       *json.Number `json:"deposit_value"`

	Extras []Extra `json:"-"`
}

// Extra is a rental that is offered along with another one: a required one goes with every unit of it.
type Extra struct {
	*Rental
	Required bool
}

// Hourly reports whether it is rented by the hour.
func (r *Rental) Hourly() bool { return r.PriceType == catalog.PriceHourly }

// MostUnits is how many are reserved at once on the page.
const MostUnits = 20

// Most is how many can be chosen: as many as are offered online, and as there is of all that must go along.
func (r *Rental) Most() int {
	most := MostUnits
	if r.MaxBookableOnline != nil {
		most = min(most, *r.MaxBookableOnline)
	}
	for _, e := range r.Extras {
		if e.Required && e.MaxBookableOnline != nil {
			most = min(most, *e.MaxBookableOnline)
		}
	}
	return most
}

// Optional reports whether there is something along with it that can be chosen.
func (r *Rental) Optional() bool {
	return slices.ContainsFunc(r.Extras, func(e Extra) bool { return !e.Required })
}

type rentalList struct {
	Rentals []*Rental `json:"rentals"`
	AddOns  []*Rental `json:"add_on_rentals"`
	Upsells []struct {
		RentalID uuid.UUID `json:"rental_id"`
		Upsell   uuid.UUID `json:"upsell_rental_id"`
		Required bool      `json:"is_required"`
	} `json:"rental_upsells"`
}

// Rentals are what is rented out online, in the business's order, with the texts in the language. Faults: business_not_found;
// service_unavailable.
func (s *Shop) Rentals(ctx context.Context, slug, language string) ([]*Rental, error) {
	list, err := read[rentalList](ctx, s.Catalog, slug, "rentals", url.Values{"locale": {language}})
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(slices.Clone(list.Rentals), func(r *Rental) bool { return r.MaxBookableOnline != nil && *r.MaxBookableOnline == 0 }), nil
}

// Rental is a rental with what is offered along with it. Faults: rental_not_found; those of [Shop.Rentals].
func (s *Shop) Rental(ctx context.Context, b *Business, language string, id uuid.UUID) (*Rental, error) {
	list, err := read[rentalList](ctx, s.Catalog, b.Offer.Slug, "rentals", url.Values{"locale": {language}})
	if err != nil {
		return nil, err
	}
	all := slices.Concat(list.Rentals, list.AddOns)
	find := func(id uuid.UUID) *Rental {
		if at := slices.IndexFunc(all, func(r *Rental) bool { return r.ID == id }); at >= 0 {
			return all[at]
		}
		return nil
	}
	found := find(id)
	if found == nil {
		return nil, fault.New(fault.RentalNotFound, "Rental not found")
	}
	r := *found // what was read is shared
	for _, u := range list.Upsells {
		extra := find(u.Upsell)
		if u.RentalID == id && extra != nil && (u.Required || !b.unpayable(extra) && extra.Most() > 0) {
			r.Extras = append(r.Extras, Extra{extra, u.Required})
		}
	}
	return &r, nil
}

// unpayable reports whether a rental must be paid online and nobody can be paid through.
func (b *Business) unpayable(r *Rental) bool {
	offered := b.Offer.Rental(r.ID)
	return offered != nil && !b.isPaidOnline() && b.Paying(b.Offer.Payments.Modes.Rentals, b.dueOfUnit(r, offered.Price)) == PayOnline
}

// dueOfUnit is what of the price of one unit, for all of the time, is to be paid when it is reserved, in minor units.
func (b *Business) dueOfUnit(r *Rental, price int64) int64 {
	offered := b.Offer.Rental(r.ID)
	if offered == nil {
		return 0
	}
	return catalog.Due(offered.PaymentRequirement, offered.DepositValue, price, b.Offer.Money())
}

// RentsOnline reports whether the page may reserve a rental with all that must go along.
func (b *Business) RentsOnline(r *Rental) bool {
	return !b.unpayable(r) && !slices.ContainsFunc(r.Extras, func(e Extra) bool { return e.Required && b.unpayable(e.Rental) })
}

// Reservation is for when, how many and with what a rental is wanted.
type Reservation struct {
	Rental *Rental
	From   *timespan.Date
	Start  *timespan.TimeOfDay // of a rental by the hour
	For    int                 // hours or days; 0 while they are not chosen
	Units  int
	extras map[uuid.UUID]bool
	zone   *time.Location // the business's
}

// mostHours and mostDays are for how long a rental is reserved on the page, where its owner sets no bound.
const (
	mostHours = 24
	mostDays  = 31
)

// ReadReservation reads a query: from=DATE, start=HH:MM, for=N, units=N and extra=ID, as often as there are extras. What cannot be read is
// not chosen.
func ReadReservation(r *Rental, zone *time.Location, query url.Values) *Reservation {
	w := &Reservation{Rental: r, zone: zone, Units: 1, extras: map[uuid.UUID]bool{}}
	if date, err := timespan.ParseDate(query.Get("from")); err == nil {
		w.From = &date
	}
	if at, err := timespan.ParseTimeOfDay(query.Get("start")); err == nil && r.Hourly() && at < timespan.MinutesPerDay {
		w.Start = &at
	}
	if n, err := strconv.Atoi(query.Get("for")); err == nil && n > 0 && n <= mostDays*24 {
		w.For = n
	}
	if n, err := strconv.Atoi(query.Get("units")); err == nil && n > 0 && n <= MostUnits {
		w.Units = n
	}
	for _, text := range query["extra"] {
		if id, err := uuid.Parse(text); err == nil {
			w.extras[id] = true
		}
	}
	return w
}

// Chosen reports whether all is there that a reservation needs.
func (w *Reservation) Chosen() bool {
	return w.From != nil && w.For > 0 && (!w.Rental.Hourly() || w.Start != nil)
}

// With reports whether an extra is wanted.
func (w *Reservation) With(e Extra) bool { return e.Required || w.extras[e.ID] }

// On is the same for another day.
func (w *Reservation) On(d timespan.Date) *Reservation {
	other := *w
	other.From = &d
	return &other
}

// Until is its last date, and the time at which it ends on it, where it is by the hour: midnight is the end of a date. Hours are elapsed
// time, as rental counts and prices them.
func (w *Reservation) Until() (timespan.Date, timespan.TimeOfDay) {
	if !w.Rental.Hourly() {
		return *w.From + timespan.Date(w.For-1), 0
	}
	until, ends, _ := timespan.EndAfter(timespan.Instant(*w.From, *w.Start, w.zone), int64(w.For)*3600, w.zone)
	return until, ends
}

// RentalLine is so many units of a rental.
type RentalLine struct {
	*Rental
	Units int
}

// Lines are the rental and what goes along, in the owner's order: as many of each.
func (w *Reservation) Lines() []RentalLine {
	lines := []RentalLine{{w.Rental, w.Units}}
	for _, e := range w.Rental.Extras {
		if w.With(e) {
			lines = append(lines, RentalLine{e.Rental, w.Units})
		}
	}
	return lines
}

// Taken are the rentals of [Reservation.Lines].
func (w *Reservation) Taken() []uuid.UUID {
	var taken []uuid.UUID
	for _, line := range w.Lines() {
		taken = append(taken, line.ID)
	}
	return taken
}

// Values is the query of it.
func (w *Reservation) Values() url.Values {
	v := url.Values{}
	if w.From != nil {
		v.Set("from", w.From.String())
	}
	if w.Start != nil {
		v.Set("start", w.Start.String())
	}
	if w.For > 0 {
		v.Set("for", strconv.Itoa(w.For))
	}
	if w.Units > 1 {
		v.Set("units", strconv.Itoa(w.Units))
	}
	for _, e := range w.Rental.Extras {
		if !e.Required && w.extras[e.ID] {
			v.Add("extra", e.ID.String())
		}
	}
	return v
}

// AllLengths are for how many hours or days it is rented at all.
func (w *Reservation) AllLengths() []int {
	least, most := bounds(w.Rental.MinDays, w.Rental.MaxDays, mostDays)
	if w.Rental.Hourly() {
		least, most = bounds(w.Rental.MinHours, w.Rental.MaxHours, mostHours)
	}
	var lengths []int
	for n := least; n <= most; n++ {
		lengths = append(lengths, n)
	}
	return lengths
}

// Lengths are those of [Reservation.AllLengths] that are free from the start that is chosen, while there is none from some start.
func (w *Reservation) Lengths(starts []rental.Start) []int {
	isChosen := func(s rental.Start) bool { return s.Time != nil && w.Start != nil && *s.Time == *w.Start }
	if slices.ContainsFunc(starts, isChosen) {
		starts = slices.DeleteFunc(slices.Clone(starts), func(s rental.Start) bool { return !isChosen(s) })
	}
	return slices.DeleteFunc(w.AllLengths(), func(n int) bool {
		return !slices.ContainsFunc(starts, func(s rental.Start) bool { return s.Shortest <= n && n <= s.Longest })
	})
}

func bounds(least, most *int, page int) (int, int) {
	from := 1
	if least != nil {
		from = max(1, *least)
	}
	if most != nil {
		return from, min(*most, max(page, from))
	}
	return from, max(page, from)
}

// Starts are the times of the day from which a rental by the hour can be chosen, each half hour that lies ahead.
func (b *Business) Starts(d timespan.Date) []timespan.TimeOfDay {
	var all []timespan.TimeOfDay
	for at := timespan.TimeOfDay(0); at < timespan.MinutesPerDay; at += 30 {
		if timespan.Instant(d, at, b.Offer.Location()) >= b.Now.Unix() {
			all = append(all, at)
		}
	}
	return all
}

// Opens is when the business opens on a date, nine where it does not say.
func (b *Business) Opens(d timespan.Date) timespan.TimeOfDay {
	windows := b.Offer.WindowsOn(d)
	if len(windows) == 0 {
		return 9 * 60
	}
	return windows[0].From
}

// RentalMonth returns a month with the units that are free for all of each day, of the rental and of all that must go along; of a rental by
// the hour also the days that have hours at best. The day is the one chosen, else the first free one. What cannot be read is said by Known.
// Faults: rental_not_found; invalid_parameter.
func (s *Shop) RentalMonth(ctx context.Context, b *Business, w *Reservation, month *timespan.Date) (*Calendar, error) {
	c := &Calendar{First: b.Today(), Last: b.Today() + timespan.Date(b.Offer.Bookings.AdvanceDays), Day: w.From}
	if month == nil {
		month = w.From
	}
	from, to := c.First, min(c.Last, c.First+window-1)
	if month != nil {
		c.Month = firstOf(*month)
		from, to = max(c.First, c.Month), min(c.Last, nextMonth(c.Month)-1)
	}
	var err error
	if c.Free, err = s.freeUnits(ctx, b, w.Rental, from, to); err != nil || c.Free == nil {
		return c, err
	}
	c.Known = true
	if c.Day == nil {
		c.Day = firstFree(c.Free, from, to)
	}
	if c.Month == 0 && c.Day != nil {
		c.Month = firstOf(*c.Day)
	} else if c.Month == 0 {
		c.Month = firstOf(c.First)
	}
	return c, nil
}

// handsOverOn reports whether a rental can be picked up on a date, as far as opening hours go.
func (b *Business) handsOverOn(id uuid.UUID, d timespan.Date) bool {
	offered := b.Offer.Rental(id)
	return offered == nil || b.Offer.HandsOverOn(offered, d)
}

// freeUnits are the units that are free from each date on for the shortest time, at least one where hours may be; nil where nobody knows.
func (s *Shop) freeUnits(ctx context.Context, b *Business, r *Rental, from, to timespan.Date) (map[timespan.Date]int, error) {
	free := map[timespan.Date]int{}
	if to < from {
		return free, nil
	}
	longest := timespan.Date(1)
	if offered := b.Offer.Rental(r.ID); offered != nil {
		longest = timespan.Date(offered.ShortestDays())
	}
	last := min(to+longest-1, from+window-1, b.Today()+timespan.Date(b.Offer.Bookings.AdvanceDays))
	ids := []string{r.ID.String()}
	for _, e := range r.Extras {
		if e.Required {
			ids = append(ids, e.ID.String())
		}
	}
	answer, err := read[struct {
		Days     map[timespan.Date]map[uuid.UUID]int `json:"days"`
		Computed bool                                `json:"computed"`
	}](ctx, s.Rent, b.Offer.Slug, "rental-available-dates", url.Values{"rental_id": {strings.Join(ids, ",")}, "start": {from.String()}, "end": {last.String()}})
	if fault.Is(err, fault.PeerUnavailable) || err == nil && !answer.Computed {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	for date := from; date <= to; date++ {
		least := MostUnits
		for on := date; on < date+longest; on++ { // what goes along is rented for as long
			for id, n := range answer.Days[on] {
				if id == r.ID && on == date || id != r.ID && b.handsOverOn(id, on) { // an extra goes along while the business is closed, too
					least = min(least, n)
				}
			}
		}
		if r.Hourly() && b.handsOverOn(r.ID, date) {
			least = max(least, 1)
		}
		free[date] = least
	}
	return free, nil
}

// RentalStarts are from when on its day all of a reservation can be had, and for how long; false where nobody knows. Faults: rental_not_found;
// invalid_parameter.
func (s *Shop) RentalStarts(ctx context.Context, b *Business, w *Reservation) ([]rental.Start, bool, error) {
	answer, err := s.Reservations.Starts(ctx, b.Offer.Slug, rental.Wanted{
		RentalID: w.Rental.ID, Date: *w.From, Quantity: w.Units, Extras: w.Taken()[1:],
	})
	if fault.Is(err, fault.PeerUnavailable) {
		return nil, false, nil
	}
	if err != nil {
		return nil, false, err
	}
	return answer.Starts, answer.Computed, nil
}

// Lacks says, in the language, what keeps a reservation from being made, with what of it; "" where nothing does. Faults:
// availability_unverified; service_unavailable; invalid_parameter.
func (s *Shop) Lacks(ctx context.Context, b *Business, w *Reservation, language string) (string, error) {
	for i, line := range w.Lines() {
		until, ends := w.Until()
		query := url.Values{
			"rentalId": {line.ID.String()}, "startDate": {w.From.String()}, "endDate": {until.String()}, "quantity": {strconv.Itoa(line.Units)}, "lang": {language},
		}
		if w.Rental.Hourly() {
			query.Set("startTime", w.Start.String())
			query.Set("endTime", ends.String())
		}
		answer, err := read[struct {
			Available      bool   `json:"available"`
			ConflictReason string `json:"conflictReason"`
			MessageCode    string `json:"messageCode"`
		}](ctx, s.Rent, b.Offer.Slug, "rental-availability", query)
		switch {
		case err != nil:
			return "", err
		case i > 0 && answer.MessageCode == string(message.Closed): // the rental itself says when all is handed over
		case !answer.Available && i == 0:
			return answer.ConflictReason, nil
		case !answer.Available:
			return line.Name + ": " + answer.ConflictReason, nil
		}
	}
	return "", nil
}

// PriceReservation quotes a reservation as rental prices it: one unit for an hour or a day, times these and the units. Faults:
// rental_not_found; service_unavailable.
func (s *Shop) PriceReservation(ctx context.Context, b *Business, w *Reservation) (*Price, error) {
	ask := pricing.QuotesRequest{Slug: b.Offer.Slug, OfferVersion: b.Offer.Version, PurchaseAt: b.Now, OmitSteps: len(b.Offer.Rules) == 0}
	for _, line := range w.Lines() {
		units := w.length(b, line.Rental)
		item := pricing.Item{Kind: pricing.KindRental, ID: line.ID, Date: *w.From, Units: &units}
		if w.Rental.Hourly() && line.Hourly() {
			item.Start = w.Start
		}
		ask.Items = append(ask.Items, item)
	}
	answer, err := s.Prices.Quotes(ctx, ask)
	if err != nil {
		return nil, err
	}
	price, total, due := &Price{StartsAt: w.startsAt(b)}, int64(0), int64(0)
	for i, line := range w.Lines() {
		unit, units := answer.Quotes[i].Price*int64(*ask.Items[i].Units), int64(line.Units)
		price.Lines = append(price.Lines, b.Offer.Money().JSON(unit*units))
		price.Details = append(price.Details, b.detailOf(&answer.Quotes[i]))
		total += unit * units
		due += b.dueOfUnit(line.Rental, unit) * units
	}
	price.total(b, b.Offer.Payments.Modes.Rentals, total, due)
	return price, nil
}

// startsAt is when the reservation begins.
func (w *Reservation) startsAt(b *Business) time.Time {
	start := timespan.TimeOfDay(0)
	if w.Start != nil {
		start = *w.Start
	}
	return time.Unix(timespan.Instant(*w.From, start, b.Offer.Location()), 0)
}

// length is for how many hours or days a rental of the reservation is priced: each that has begun; one by the hour that goes along with one
// by the day takes all the hours of its dates.
func (w *Reservation) length(b *Business, r *Rental) int {
	until, ends := w.Until()
	if !r.Hourly() {
		return int(until-*w.From) + 1
	}
	zone := b.Offer.Location()
	from, to := timespan.Instant(*w.From, 0, zone), timespan.Instant(until+1, 0, zone)
	if w.Rental.Hourly() {
		from, to = timespan.Instant(*w.From, *w.Start, zone), timespan.Instant(until, ends, zone)
	}
	const hour = 3600
	return int((to - from + hour - 1) / hour)
}

// Reserve reserves as the page, all or none, once for each key. Faults: rental_not_found; conflict where too few units are free, or the
// time is not to be had; invalid_parameter; what the business's account does not allow; payment_unavailable.
func (s *Shop) Reserve(ctx context.Context, b *Business, w *Reservation, d Details, key string) (Booked, error) {
	until, ends := w.Until()
	wanted := rental.NewReservation{
		RentalID: w.Rental.ID.String(), StartDate: w.From.String(), EndDate: until.String(), Quantity: w.Units,
		CustomerName: d.Name, CustomerEmail: &d.Email, Locale: d.Language,
	}
	if w.Rental.Hourly() {
		from, to := w.Start.String(), ends.String()
		wanted.StartTime, wanted.EndTime = &from, &to
	}
	for _, line := range w.Lines()[1:] {
		wanted.Extras = append(wanted.Extras, rental.NewExtra{RentalID: line.ID.String(), Quantity: line.Units})
	}
	var err error
	if wanted.CustomerPhone, wanted.FormData, err = d.told(); err != nil {
		return Booked{}, err
	}
	if b.Offer.Payments.Modes.Rentals == catalog.ModeCustomerChoice {
		wanted.PaymentChoice = d.Pay
	}
	made, err := once(ctx, key, func(ctx context.Context) (*rental.Reservation, error) {
		return s.Reservations.Reserve(ctx, b.Offer.Slug, wanted)
	})
	if err != nil {
		return Booked{}, err
	}
	return Booked{made.ManageURL, made.CheckoutURL}, nil
}

// Reservations reserves, and says from when on; rental.Client does.
type Reservations interface {
	Starts(ctx context.Context, slug string, wanted rental.Wanted) (*rental.Starts, error)
	Reserve(ctx context.Context, slug string, wanted rental.NewReservation) (*rental.Reservation, error)
}

// RentalRises reports whether a pricing rule of the business may raise the rate of a rental above what is shown, in minor units.
func RentalRises(offer *catalog.Offer, id uuid.UUID, shown int64) bool {
	return slices.ContainsFunc(offer.Rules, func(r catalog.Rule) bool {
		applies := r.AppliesTo.Everything() || r.AppliesTo.AllRentals || slices.Contains(r.AppliesTo.Rentals, id)
		return applies && raises(r, shown)
	})
}
