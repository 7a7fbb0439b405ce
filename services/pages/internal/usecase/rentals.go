package usecase

import (
	"context"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/contracts/catalog"
	"github.com/slotmesh/slotmesh/libs/contracts/pricing"
	"github.com/slotmesh/slotmesh/libs/contracts/publicapi"
	"github.com/slotmesh/slotmesh/libs/contracts/rental"
	"github.com/slotmesh/slotmesh/libs/values/fault"
	"github.com/slotmesh/slotmesh/libs/values/message"
	"github.com/slotmesh/slotmesh/libs/values/timespan"
)

// Rental is a rental of /rentals in one language, with its extras.
type Rental struct {
	publicapi.Rental
	Extras []Extra `json:"-"`
}

// Extra is a rental that is offered together with another. A required extra goes with every unit of it.
type Extra struct {
	*Rental
	Required bool
}

// Hourly reports whether the rental is rented by the hour.
func (r *Rental) Hourly() bool { return r.PriceType == catalog.PriceHourly }

// MostUnits is the maximum number of units of a rental in one reservation of the page.
const MostUnits = 20

// Most returns the maximum number of units of the rental that a visitor can choose: [MostUnits], or fewer if fewer
// can be booked online. Each unit needs one of each required extra, so the number of bookable extras limits it too.
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

// Optional reports whether the rental has extras that are not required.
func (r *Rental) Optional() bool {
	return slices.ContainsFunc(r.Extras, func(e Extra) bool { return !e.Required })
}

// rentalList is the answer of /rentals. Its fields replace those of the embedded list with the same names.
type rentalList struct {
	publicapi.RentalList
	Rentals      []*Rental `json:"rentals"`
	AddOnRentals []*Rental `json:"add_on_rentals"`
}

// Rentals returns the rentals that can be booked online, in display order, with texts in the given
// language. Faults: business_not_found; service_unavailable.
func (s *Shop) Rentals(ctx context.Context, slug, language string) ([]*Rental, error) {
	list, err := read[rentalList](ctx, s.Catalog, slug, "rentals", url.Values{"locale": {language}})
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(slices.Clone(list.Rentals), func(r *Rental) bool {
		return r.MaxBookableOnline != nil && *r.MaxBookableOnline == 0
	}), nil
}

// Rental returns a rental with its extras. Faults: rental_not_found; those of [Shop.Rentals].
func (s *Shop) Rental(ctx context.Context, b *Business, language string, id uuid.UUID) (*Rental, error) {
	list, err := read[rentalList](ctx, s.Catalog, b.Offer.Slug, "rentals", url.Values{"locale": {language}})
	if err != nil {
		return nil, err
	}
	all := slices.Concat(list.Rentals, list.AddOnRentals)
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
	r := *found // a copy, because read values are shared
	for _, u := range list.RentalUpsells {
		extra := find(u.UpsellRentalID)
		if u.RentalID == id && extra != nil && (u.IsRequired || !b.unpayable(extra) && extra.Most() > 0) {
			r.Extras = append(r.Extras, Extra{extra, u.IsRequired})
		}
	}
	return &r, nil
}

// unpayable reports whether a rental must be paid online but no payment provider is connected.
func (b *Business) unpayable(r *Rental) bool {
	offered := b.Offer.Rental(r.ID)
	return offered != nil && !b.isPaidOnline() && b.Paying(b.Offer.Payments.Modes.Rentals,
		b.dueOfUnit(r, offered.Price)) == PayOnline
}

// dueOfUnit returns the part of the price of one unit that is due at the reservation. price is the
// price of one unit for the whole rental time. Amounts are in minor units.
func (b *Business) dueOfUnit(r *Rental, price int64) int64 {
	offered := b.Offer.Rental(r.ID)
	if offered == nil {
		return 0
	}
	return catalog.Due(offered.PaymentRequirement, offered.DepositValue, price, b.Offer.Money())
}

// RentsOnline reports whether the page may reserve a rental with its required extras.
func (b *Business) RentsOnline(r *Rental) bool {
	return !b.unpayable(r) && !slices.ContainsFunc(r.Extras, func(e Extra) bool {
		return e.Required && b.unpayable(e.Rental)
	})
}

// Reservation is the wanted rental with its time, units and extras.
type Reservation struct {
	Rental *Rental
	From   *timespan.Date
	Start  *timespan.TimeOfDay // only by the hour
	For    int                 // hours or days; 0 if not chosen yet
	Units  int
	extras map[uuid.UUID]bool
	zone   *time.Location // the business's time zone
}

// mostHours and mostDays bound the length of a reservation on the page if the owner sets no bound.
const (
	mostHours = 24
	mostDays  = 31
)

// ReadReservation reads a reservation from the parameters of a query: from=DATE, start=HH:MM, for=N,
// units=N and one extra=ID for each extra. It treats an invalid value as not chosen.
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

// Chosen reports whether date and length are chosen, and the start of a rental by the hour.
func (w *Reservation) Chosen() bool {
	return w.From != nil && w.For > 0 && (!w.Rental.Hourly() || w.Start != nil)
}

// With reports whether an extra is part of the reservation.
func (w *Reservation) With(e Extra) bool { return e.Required || w.extras[e.ID] }

// On returns a copy of the reservation for another date.
func (w *Reservation) On(d timespan.Date) *Reservation {
	other := *w
	other.From = &d
	return &other
}

// Until returns the last date of the reservation and, for a rental by the hour, the time of that date at which it
// ends. If it ends at midnight, this is 24:00 of the date before. Hours are elapsed time, as in the rental service.
func (w *Reservation) Until() (timespan.Date, timespan.TimeOfDay) {
	if !w.Rental.Hourly() {
		return *w.From + timespan.Date(w.For-1), 0
	}
	until, ends, _ := timespan.EndAfter(timespan.Instant(*w.From, *w.Start, w.zone), int64(w.For)*3600, w.zone)
	return until, ends
}

// RentalLine is a number of units of a rental.
type RentalLine struct {
	*Rental
	Units int
}

// Lines returns the rental and its chosen extras, in the owner's order, with the same number of units each.
func (w *Reservation) Lines() []RentalLine {
	lines := []RentalLine{{w.Rental, w.Units}}
	for _, e := range w.Rental.Extras {
		if w.With(e) {
			lines = append(lines, RentalLine{e.Rental, w.Units})
		}
	}
	return lines
}

// Taken returns the ids of the rentals of [Reservation.Lines].
func (w *Reservation) Taken() []uuid.UUID {
	var taken []uuid.UUID
	for _, line := range w.Lines() {
		taken = append(taken, line.ID)
	}
	return taken
}

// Values returns the query parameters of the reservation.
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

// AllLengths returns the lengths that the rental allows, in hours or days.
func (w *Reservation) AllLengths() []int {
	least, most := bounds(w.Rental.MinRentalDays, w.Rental.MaxRentalDays, mostDays)
	if w.Rental.Hourly() {
		least, most = bounds(w.Rental.MinRentalHours, w.Rental.MaxRentalHours, mostHours)
	}
	var lengths []int
	for n := least; n <= most; n++ {
		lengths = append(lengths, n)
	}
	return lengths
}

// Lengths returns the lengths in [Reservation.AllLengths] for which the rental is free from the chosen
// start. If that start is not free or not chosen, it returns those that are free from any of starts.
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

// Starts returns the half hours of a date at which a rental by the hour can begin, without past ones.
func (b *Business) Starts(d timespan.Date) []timespan.TimeOfDay {
	var all []timespan.TimeOfDay
	for at := timespan.TimeOfDay(0); at < timespan.MinutesPerDay; at += 30 {
		if timespan.Instant(d, at, b.Offer.Location()) >= b.Now.Unix() {
			all = append(all, at)
		}
	}
	return all
}

// Opens returns when the business opens on a date, or 9:00 if it has no hours on that date.
func (b *Business) Opens(d timespan.Date) timespan.TimeOfDay {
	windows := b.Offer.WindowsOn(d)
	if len(windows) == 0 {
		return 9 * 60
	}
	return windows[0].From
}

// RentalMonth returns a month with the number of free units on each date, which is limited by the
// rental and its required extras. For a rental by the hour, an open date counts at least one unit,
// because some of its hours may be free.
//
// In the result, Day is the chosen date, otherwise the first date with a free unit. Known is false if
// availability is unknown. Faults: rental_not_found; invalid_parameter.
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

// handsOverOn reports whether the opening hours of a date allow the rental to be picked up.
func (b *Business) handsOverOn(id uuid.UUID, d timespan.Date) bool {
	offered := b.Offer.Rental(id)
	return offered == nil || b.Offer.HandsOverOn(offered, d)
}

// freeUnits returns the number of units that can be rented from each date on, for the shortest possible
// length. For a rental by the hour, an open date has at least one. It returns nil if availability is unknown.
func (s *Shop) freeUnits(ctx context.Context, b *Business, r *Rental,
	from, to timespan.Date) (map[timespan.Date]int, error) {
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
	answer, err := read[publicapi.RentalDates](ctx, s.Rent, b.Offer.Slug, "rental-available-dates", url.Values{
		"rental_id": {strings.Join(ids, ",")}, "start": {from.String()}, "end": {last.String()},
	})
	if fault.Is(err, fault.PeerUnavailable) || err == nil && !answer.Computed {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	for date := from; date <= to; date++ {
		least := MostUnits
		for on := date; on < date+longest; on++ { // extras are rented for the same length
			for id, n := range answer.Days[on] {
				// An extra may stay rented over closed days.
				if id == r.ID && on == date || id != r.ID && b.handsOverOn(id, on) {
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

// RentalStarts returns the start times, on the reservation's date, from which the rental and all its extras are free,
// with the possible lengths. It returns false if availability is unknown. Faults: rental_not_found; invalid_parameter.
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

// Lacks returns the reason why the reservation cannot be made, in the given language. If an extra is
// the reason, its name is included. Lacks returns "" if the reservation can be made. Faults:
// availability_unverified; service_unavailable; invalid_parameter.
func (s *Shop) Lacks(ctx context.Context, b *Business, w *Reservation, language string) (string, error) {
	for i, line := range w.Lines() {
		until, ends := w.Until()
		query := url.Values{
			"rentalId": {line.ID.String()}, "startDate": {w.From.String()}, "endDate": {until.String()},
			"quantity": {strconv.Itoa(line.Units)}, "lang": {language},
		}
		if w.Rental.Hourly() {
			query.Set("startTime", w.Start.String())
			query.Set("endTime", ends.String())
		}
		answer, err := read[publicapi.RentalAvailability](ctx, s.Rent, b.Offer.Slug, "rental-availability", query)
		switch {
		case err != nil:
			return "", err
		case i > 0 && answer.MessageCode == message.Closed: // only the main rental's opening hours count
		case !answer.Available && i == 0:
			return answer.ConflictReason, nil
		case !answer.Available:
			return line.Name + ": " + answer.ConflictReason, nil
		}
	}
	return "", nil
}

// PriceReservation returns the price of a reservation, computed as in the rental service: the price of one
// unit per hour or day, times hours or days, times units. Faults: rental_not_found; service_unavailable.
func (s *Shop) PriceReservation(ctx context.Context, b *Business, w *Reservation) (*Price, error) {
	ask := pricing.QuotesRequest{Slug: b.Offer.Slug, OfferVersion: b.Offer.Version, PurchaseAt: b.Now,
		OmitSteps: len(b.Offer.Rules) == 0}
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

// startsAt returns when the reservation begins.
func (w *Reservation) startsAt(b *Business) time.Time {
	start := timespan.TimeOfDay(0)
	if w.Start != nil {
		start = *w.Start
	}
	return time.Unix(timespan.Instant(*w.From, start, b.Offer.Location()), 0)
}

// length returns the number of hours or days for which the reservation is charged for the rental r,
// which may be an extra. An incomplete hour counts as a whole one. If the main rental is by the day,
// an extra by the hour is charged for all hours of the dates.
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

// Reserve makes the reservation as the actor `page`, at most once for each key. It reserves the rental
// and all extras, or nothing. Faults: rental_not_found; conflict if too few units are free or the time
// is not available; invalid_parameter; those of the business's account; payment_unavailable.
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

// Reservations lists free starts and makes reservations; rental.Client implements it.
type Reservations interface {
	Starts(ctx context.Context, slug string, wanted rental.Wanted) (*rental.Starts, error)
	Reserve(ctx context.Context, slug string, wanted rental.NewReservation) (*rental.Reservation, error)
}

// RentalRises reports whether a pricing rule may raise the rate of a rental above the shown one, in minor units.
func RentalRises(offer *catalog.Offer, id uuid.UUID, shown int64) bool {
	return slices.ContainsFunc(offer.Rules, func(r catalog.Rule) bool {
		applies := r.AppliesTo.Everything() || r.AppliesTo.AllRentals || slices.Contains(r.AppliesTo.Rentals, id)
		return applies && raises(r, shown)
	})
}
