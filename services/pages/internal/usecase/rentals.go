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

// Rental is a rental as GET /rentals describes it, in one language, together with its extras.
type Rental struct {
	publicapi.Rental
	Extras []Extra `json:"-"`
}

// Extra is a rental that a customer can reserve together with another rental. If the extra is required, the customer
// must reserve one unit of the extra with each unit of the other rental.
type Extra struct {
	*Rental
	IsRequired bool
}

// IsHourly reports whether the rental has a price per hour, so that customers reserve hours.
func (r *Rental) IsHourly() bool { return r.PriceType == catalog.PriceHourly }

// MaxUnits is the maximum number of units of a rental in one reservation that a customer can make on the page.
const MaxUnits = 20

// MaxUnits returns the maximum number of units of the rental that a visitor can choose. The result is [MaxUnits] or, if
// it is lower, the number of units that can be booked online. Each unit needs one unit of every required extra, so the
// numbers of bookable units of the required extras are also limits.
func (r *Rental) MaxUnits() int {
	units := MaxUnits
	if r.MaxBookableOnline != nil {
		units = min(units, *r.MaxBookableOnline)
	}
	for _, e := range r.Extras {
		if e.IsRequired && e.MaxBookableOnline != nil {
			units = min(units, *e.MaxBookableOnline)
		}
	}
	return units
}

// HasOptionalExtras reports whether the rental has extras that are not required.
func (r *Rental) HasOptionalExtras() bool {
	return slices.ContainsFunc(r.Extras, func(e Extra) bool { return !e.IsRequired })
}

// rentalList is the answer of GET /rentals. The fields Rentals and AddOnRentals replace the embedded fields with the
// same JSON names.
type rentalList struct {
	publicapi.RentalList
	Rentals      []*Rental `json:"rentals"`
	AddOnRentals []*Rental `json:"add_on_rentals"`
}

// Rentals returns the rentals that can be booked online, in the order in which the page shows
// them. The texts are in the given language. Faults: business_not_found; service_unavailable.
func (s *Shop) Rentals(ctx context.Context, slug, language string) ([]*Rental, error) {
	list, err := read[rentalList](ctx, s.Catalog, slug, "rentals", url.Values{"locale": {language}})
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(slices.Clone(list.Rentals), func(r *Rental) bool {
		return r.MaxBookableOnline != nil && *r.MaxBookableOnline == 0
	}), nil
}

// Rental returns a rental by its id, with its extras. Faults: rental_not_found; the faults of [Shop.Rentals].
func (s *Shop) Rental(ctx context.Context, b *Business, language string, id uuid.UUID) (*Rental, error) {
	list, err := read[rentalList](ctx, s.Catalog, b.Snapshot.Slug, "rentals", url.Values{"locale": {language}})
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
	r := *found // a copy, because all requests share the value `*found`
	for _, u := range list.RentalUpsells {
		extra := find(u.UpsellRentalID)
		if u.RentalID == id && extra != nil && (u.IsRequired || !b.isUnpayable(extra) && extra.MaxUnits() > 0) {
			r.Extras = append(r.Extras, Extra{extra, u.IsRequired})
		}
	}
	return &r, nil
}

// isUnpayable reports whether customers cannot pay for a rental: it must be paid online, but no payment provider is
// connected.
func (b *Business) isUnpayable(r *Rental) bool {
	published := b.Snapshot.Rental(r.ID)
	return published != nil && !b.hasConnectedProvider() && b.PayMode(b.Snapshot.Payments.Modes.Rentals,
		b.computeUnitDue(r, published.Price)) == PayOnline
}

// computeUnitDue returns the part of the price of one unit that the customer must pay when reserving the rental. The
// argument `price` is the price of one unit for the whole rental time. Both amounts are in minor units.
func (b *Business) computeUnitDue(r *Rental, price int64) int64 {
	published := b.Snapshot.Rental(r.ID)
	if published == nil {
		return 0
	}
	return catalog.Due(published.PaymentRequirement, published.DepositValue, price, b.Snapshot.Money())
}

// RentsOnline reports whether customers can reserve the rental with its required extras on the page. It returns false
// if the rental or a required extra must be paid online, but no payment provider is connected.
func (b *Business) RentsOnline(r *Rental) bool {
	return !b.isUnpayable(r) && !slices.ContainsFunc(r.Extras, func(e Extra) bool {
		return e.IsRequired && b.isUnpayable(e.Rental)
	})
}

// Reservation is the reservation that a visitor wants to make: the rental with its time, units and extras.
type Reservation struct {
	Rental *Rental
	From   *timespan.Date
	Start  *timespan.TimeOfDay // nil if not chosen yet, or if the rental has a price per day
	Length int                 // the length in hours or days; 0 if not chosen yet
	Units  int
	extras map[uuid.UUID]bool
	zone   *time.Location // the business's time zone
}

// maxHours and maxDays are the maximum lengths of a reservation on the page, if the owner sets no maximum length.
const (
	maxHours = 24
	maxDays  = 31
)

// ReadReservation reads a reservation from the parameters of a query: from=DATE, start=HH:MM, for=N, units=N, and
// extra=ID for each extra. A parameter with an invalid value counts as not chosen.
func ReadReservation(r *Rental, zone *time.Location, query url.Values) *Reservation {
	w := &Reservation{Rental: r, zone: zone, Units: 1, extras: map[uuid.UUID]bool{}}
	if date, err := timespan.ParseDate(query.Get("from")); err == nil {
		w.From = &date
	}
	if at, err := timespan.ParseTimeOfDay(query.Get("start")); err == nil && r.IsHourly() &&
		at < timespan.MinutesPerDay {
		w.Start = &at
	}
	if n, err := strconv.Atoi(query.Get("for")); err == nil && n > 0 && n <= maxDays*24 {
		w.Length = n
	}
	if n, err := strconv.Atoi(query.Get("units")); err == nil && n > 0 && n <= MaxUnits {
		w.Units = n
	}
	for _, text := range query["extra"] {
		if id, err := uuid.Parse(text); err == nil {
			w.extras[id] = true
		}
	}
	return w
}

// IsComplete reports whether the visitor has chosen the date, the
// length and, if the rental has a price per hour, the start.
func (w *Reservation) IsComplete() bool {
	return w.From != nil && w.Length > 0 && (!w.Rental.IsHourly() || w.Start != nil)
}

// Includes reports whether the extra `e` is part of the reservation.
func (w *Reservation) Includes(e Extra) bool { return e.IsRequired || w.extras[e.ID] }

// OnDate returns a copy of the reservation for another date.
func (w *Reservation) OnDate(d timespan.Date) *Reservation {
	moved := *w
	moved.From = &d
	return &moved
}

// End returns the last date of the reservation. For a rental with a price per hour, it also returns the time on that
// date at which the reservation ends. If the reservation ends at midnight, the result is 24:00 of the previous date.
// The length in hours is elapsed time, also on a day on which the clock changes, as in the rental service.
func (w *Reservation) End() (timespan.Date, timespan.TimeOfDay) {
	if !w.Rental.IsHourly() {
		return *w.From + timespan.Date(w.Length-1), 0
	}
	lastDate, endTime, _ := timespan.EndAfter(timespan.Instant(*w.From, *w.Start, w.zone), int64(w.Length)*3600, w.zone)
	return lastDate, endTime
}

// RentalLine is one rental of a reservation, with the number of reserved units.
type RentalLine struct {
	*Rental
	Units int
}

// Lines returns the rental, and then its required and chosen extras, in the order of the offer. All lines have the same
// number of units.
func (w *Reservation) Lines() []RentalLine {
	lines := []RentalLine{{w.Rental, w.Units}}
	for _, e := range w.Rental.Extras {
		if w.Includes(e) {
			lines = append(lines, RentalLine{e.Rental, w.Units})
		}
	}
	return lines
}

// RentalIDs returns the ids of the rental and its chosen extras, in the order of [Reservation.Lines].
func (w *Reservation) RentalIDs() []uuid.UUID {
	var ids []uuid.UUID
	for _, line := range w.Lines() {
		ids = append(ids, line.ID)
	}
	return ids
}

// Values returns the reservation as query parameters, which [ReadReservation] can read.
func (w *Reservation) Values() url.Values {
	v := url.Values{}
	if w.From != nil {
		v.Set("from", w.From.String())
	}
	if w.Start != nil {
		v.Set("start", w.Start.String())
	}
	if w.Length > 0 {
		v.Set("for", strconv.Itoa(w.Length))
	}
	if w.Units > 1 {
		v.Set("units", strconv.Itoa(w.Units))
	}
	for _, e := range w.Rental.Extras {
		if !e.IsRequired && w.extras[e.ID] {
			v.Add("extra", e.ID.String())
		}
	}
	return v
}

// AllLengths returns the lengths, in hours or days, that the rental allows.
func (w *Reservation) AllLengths() []int {
	shortest, longest := lengthBounds(w.Rental.MinRentalDays, w.Rental.MaxRentalDays, maxDays)
	if w.Rental.IsHourly() {
		shortest, longest = lengthBounds(w.Rental.MinRentalHours, w.Rental.MaxRentalHours, maxHours)
	}
	var lengths []int
	for n := shortest; n <= longest; n++ {
		lengths = append(lengths, n)
	}
	return lengths
}

// FreeLengths returns the lengths in [Reservation.AllLengths] for which the rental is free from the chosen start. If
// `starts` does not contain the chosen start, FreeLengths returns the lengths that are possible from at least one start
// in `starts`.
func (w *Reservation) FreeLengths(starts []rental.Start) []int {
	isChosen := func(s rental.Start) bool { return s.Time != nil && w.Start != nil && *s.Time == *w.Start }
	if slices.ContainsFunc(starts, isChosen) {
		starts = slices.DeleteFunc(slices.Clone(starts), func(s rental.Start) bool { return !isChosen(s) })
	}
	return slices.DeleteFunc(w.AllLengths(), func(n int) bool {
		return !slices.ContainsFunc(starts, func(s rental.Start) bool { return s.Shortest <= n && n <= s.Longest })
	})
}

// lengthBounds returns the smallest and the largest length of a reservation. The arguments `shortest` and `longest` are
// the owner's limits, or nil. The argument `pageMax` is the largest length if the owner sets no maximum.
func lengthBounds(shortest, longest *int, pageMax int) (int, int) {
	from := 1
	if shortest != nil {
		from = max(1, *shortest)
	}
	if longest != nil {
		return from, min(*longest, max(pageMax, from))
	}
	return from, max(pageMax, from)
}

// HourlyStarts returns the times on the given date at which a rental with a price per hour can begin. The result
// contains all half hours that are not in the past.
func (b *Business) HourlyStarts(d timespan.Date) []timespan.TimeOfDay {
	var starts []timespan.TimeOfDay
	for at := timespan.TimeOfDay(0); at < timespan.MinutesPerDay; at += 30 {
		if timespan.Instant(d, at, b.Snapshot.Location()) >= b.Now.Unix() {
			starts = append(starts, at)
		}
	}
	return starts
}

// OpeningTime returns the time at which the location of a rental opens on the given date. If
// the location has no opening hours on that date, OpeningTime returns 9:00.
func (b *Business) OpeningTime(rental uuid.UUID, d timespan.Date) timespan.TimeOfDay {
	var at *catalog.Location
	if r := b.Snapshot.Rental(rental); r != nil {
		at = b.Snapshot.RentalLocation(r)
	}
	windows := b.Snapshot.OpeningOn(at, d)
	if len(windows) == 0 {
		return 9 * 60
	}
	return windows[0].From
}

// RentalMonth returns a month with the number of free units on each date. A unit is free only if the rental and its
// required extras are free. For a rental with a price per hour, the number for an open date is at least 1, because some
// hours of the date may be free.
//
// The field `Day` of the result is the chosen date. If no date is chosen, `Day` is the first date with a free unit. The
// field `IsKnown` is false if availability is unknown. Faults: rental_not_found; invalid_parameter.
func (s *Shop) RentalMonth(ctx context.Context, b *Business, w *Reservation, month *timespan.Date) (*Calendar, error) {
	c := &Calendar{First: b.Today(), Last: b.Today() + timespan.Date(b.Snapshot.Bookings.AdvanceDays), Day: w.From}
	if month == nil {
		month = w.From
	}
	from, to := c.First, min(c.Last, c.First+maxQueryDays-1)
	if month != nil {
		c.Month = firstOfMonth(*month)
		from, to = max(c.First, c.Month), min(c.Last, nextMonth(c.Month)-1)
	}
	var err error
	if c.Free, err = s.readFreeUnits(ctx, b, w.Rental, from, to); err != nil || c.Free == nil {
		return c, err
	}
	c.IsKnown = true
	if c.Day == nil {
		c.Day = findFirstFree(c.Free, from, to)
	}
	if c.Month == 0 && c.Day != nil {
		c.Month = firstOfMonth(*c.Day)
	} else if c.Month == 0 {
		c.Month = firstOfMonth(c.First)
	}
	return c, nil
}

// canHandOver reports whether, according to the opening hours, the rental can be picked up or returned on the given
// date.
func (b *Business) canHandOver(id uuid.UUID, d timespan.Date) bool {
	published := b.Snapshot.Rental(id)
	return published == nil || b.Snapshot.HandsOverOn(published, d)
}

// readFreeUnits returns, for each date, the number of units that can be rented for the shortest allowed length,
// beginning on that date. For a rental with a price per hour, the number for an open date is at least 1, because some
// hours may still be free. The result is nil if availability is unknown.
func (s *Shop) readFreeUnits(ctx context.Context, b *Business, r *Rental,
	from, to timespan.Date) (map[timespan.Date]int, error) {
	free := map[timespan.Date]int{}
	if to < from {
		return free, nil
	}
	days := timespan.Date(1)
	if published := b.Snapshot.Rental(r.ID); published != nil {
		days = timespan.Date(published.ShortestDays())
	}
	last := min(to+days-1, from+maxQueryDays-1, b.Today()+timespan.Date(b.Snapshot.Bookings.AdvanceDays))
	ids := []string{r.ID.String()}
	for _, e := range r.Extras {
		if e.IsRequired {
			ids = append(ids, e.ID.String())
		}
	}
	answer, err := read[publicapi.RentalDates](ctx, s.RentalReader, b.Snapshot.Slug, "rental-available-dates",
		url.Values{
			"rental_id": {strings.Join(ids, ",")}, "start": {from.String()}, "end": {last.String()},
		})
	if fault.Is(err, fault.PeerUnavailable) || err == nil && !answer.Computed {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	for date := from; date <= to; date++ {
		units := MaxUnits
		for day := date; day < date+days; day++ { // extras are rented for the same days as the rental
			for id, n := range answer.Days[day] {
				// On a closed day, the number for an extra is 0, because the extra cannot be picked up on that day. But
				// an extra that was picked up earlier can stay rented over that day, so the number is ignored.
				if id == r.ID && day == date || id != r.ID && b.canHandOver(id, day) {
					units = min(units, n)
				}
			}
		}
		if r.IsHourly() && b.canHandOver(r.ID, date) {
			units = max(units, 1)
		}
		free[date] = units
	}
	return free, nil
}

// RentalStarts returns the starts on the reservation's date from which the rental
// and all chosen extras are free, with the possible lengths. The second result is
// false if availability is unknown. Faults: rental_not_found; invalid_parameter.
func (s *Shop) RentalStarts(ctx context.Context, b *Business, w *Reservation) ([]rental.Start, bool, error) {
	answer, err := s.Reservations.Starts(ctx, b.Snapshot.Slug, rental.Wanted{
		RentalID: w.Rental.ID, Date: *w.From, Quantity: w.Units, Extras: w.RentalIDs()[1:],
	})
	if fault.Is(err, fault.PeerUnavailable) {
		return nil, false, nil
	}
	if err != nil {
		return nil, false, err
	}
	return answer.Starts, answer.Computed, nil
}

// FindConflict returns the reason why the reservation cannot be made, as a sentence in the given language. If an extra
// is not available, the sentence begins with the name of the extra. FindConflict returns "" if the reservation can be
// made. Faults: availability_unverified; service_unavailable; invalid_parameter.
func (s *Shop) FindConflict(ctx context.Context, b *Business, w *Reservation, language string) (string, error) {
	for i, line := range w.Lines() {
		lastDate, endTime := w.End()
		query := url.Values{
			"rentalId": {line.ID.String()}, "startDate": {w.From.String()}, "endDate": {lastDate.String()},
			"quantity": {strconv.Itoa(line.Units)}, "lang": {language},
		}
		if w.Rental.IsHourly() {
			query.Set("startTime", w.Start.String())
			query.Set("endTime", endTime.String())
		}
		answer, err := read[publicapi.RentalAvailability](ctx, s.RentalReader, b.Snapshot.Slug, "rental-availability",
			query)
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

// PriceReservation returns the price of a reservation. The price is the price of one unit for one hour or day, times
// the number of hours or days, times the number of units. The rental service computes the price of the reservation in
// the same way. Faults: rental_not_found; service_unavailable.
func (s *Shop) PriceReservation(ctx context.Context, b *Business, w *Reservation) (*Price, error) {
	request := pricing.QuotesRequest{Slug: b.Snapshot.Slug, OfferVersion: b.Snapshot.Version, PurchaseAt: b.Now,
		OmitSteps: len(b.Snapshot.Rules) == 0}
	for _, line := range w.Lines() {
		units := w.length(b, line.Rental)
		item := pricing.Item{Kind: pricing.KindRental, ID: line.ID, Date: *w.From, Units: &units}
		if w.Rental.IsHourly() && line.IsHourly() {
			item.Start = w.Start
		}
		request.Items = append(request.Items, item)
	}
	answer, err := s.Prices.Quotes(ctx, request)
	if err != nil {
		return nil, err
	}
	price, total, due := &Price{StartsAt: w.startTime(b)}, int64(0), int64(0)
	for i, line := range w.Lines() {
		unit, units := answer.Quotes[i].Price*int64(*request.Items[i].Units), int64(line.Units)
		price.Lines = append(price.Lines, b.Snapshot.Money().JSON(unit*units))
		price.Details = append(price.Details, b.explainPrice(&answer.Quotes[i]))
		total += unit * units
		due += b.computeUnitDue(line.Rental, unit) * units
	}
	price.setTotal(b, b.Snapshot.Payments.Modes.Rentals, total, due)
	return price, nil
}

func (w *Reservation) startTime(b *Business) time.Time {
	start := timespan.TimeOfDay(0)
	if w.Start != nil {
		start = *w.Start
	}
	return time.Unix(timespan.Instant(*w.From, start, b.Snapshot.Location()), 0)
}

// length returns the number of hours or days that the customer pays for the rental `r`, which is the main rental or an
// extra. A started hour counts as a whole hour. If the main rental has a price per day, the customer pays all hours of
// the dates for an extra with a price per hour.
func (w *Reservation) length(b *Business, r *Rental) int {
	lastDate, endTime := w.End()
	if !r.IsHourly() {
		return int(lastDate-*w.From) + 1
	}
	zone := b.Snapshot.Location()
	from, to := timespan.Instant(*w.From, 0, zone), timespan.Instant(lastDate+1, 0, zone)
	if w.Rental.IsHourly() {
		from, to = timespan.Instant(*w.From, *w.Start, zone), timespan.Instant(lastDate, endTime, zone)
	}
	const hour = 3600
	return int((to - from + hour - 1) / hour)
}

// Reserve makes the reservation, with the booking page as the actor, at most once for each key. If the rental or an
// extra cannot be reserved, Reserve reserves nothing. Faults: rental_not_found; conflict if too few units are free or
// the time is not available; invalid_parameter; the faults of the business's account; payment_unavailable.
func (s *Shop) Reserve(ctx context.Context, b *Business, w *Reservation, d Details, key string) (Confirmation, error) {
	lastDate, endTime := w.End()
	request := rental.NewReservation{
		RentalID: w.Rental.ID.String(), StartDate: w.From.String(), EndDate: lastDate.String(), Quantity: w.Units,
		CustomerName: d.Name, CustomerEmail: &d.Email, Locale: d.Language,
	}
	if w.Rental.IsHourly() {
		from, to := w.Start.String(), endTime.String()
		request.StartTime, request.EndTime = &from, &to
	}
	for _, line := range w.Lines()[1:] {
		request.Extras = append(request.Extras, rental.NewExtra{RentalID: line.ID.String(), Quantity: line.Units})
	}
	var err error
	if request.CustomerPhone, request.FormData, err = d.encode(); err != nil {
		return Confirmation{}, err
	}
	if b.Snapshot.Payments.Modes.Rentals == catalog.ModeCustomerChoice {
		request.PaymentChoice = d.Pay
	}
	reservation, err := callIdempotent(ctx, key, func(ctx context.Context) (*rental.Reservation, error) {
		return s.Reservations.Reserve(ctx, b.Snapshot.Slug, request)
	})
	if err != nil {
		return Confirmation{}, err
	}
	return Confirmation{reservation.ManageURL, reservation.CheckoutURL}, nil
}

// Reservations lists free starts of rentals and makes reservations; rental.Client implements it.
type Reservations interface {
	Starts(ctx context.Context, slug string, wanted rental.Wanted) (*rental.Starts, error)
	Reserve(ctx context.Context, slug string, wanted rental.NewReservation) (*rental.Reservation, error)
}

// CanRentalPriceRise reports whether a pricing rule can make the price of a rental per hour or day higher than `price`.
// The argument `price` is in minor units.
func CanRentalPriceRise(snapshot *catalog.Snapshot, id uuid.UUID, price int64) bool {
	return slices.ContainsFunc(snapshot.Rules, func(r catalog.Rule) bool {
		applies := r.AppliesTo.IsEverything() || r.AppliesTo.AllRentals || slices.Contains(r.AppliesTo.Rentals, id)
		return applies && canRaise(r, price)
	})
}
