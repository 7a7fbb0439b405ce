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

// Rental is a rental as /rentals describes it, in one language, together with its extras.
type Rental struct {
	publicapi.Rental
	Extras []Extra `json:"-"`
}

// Extra is a rental that a customer can reserve together with another rental. If the extra is required, the customer
// must reserve one unit of the extra with each unit of the other rental.
type Extra struct {
	*Rental
	Required bool
}

// Hourly reports whether the rental has a price per hour, so that customers reserve hours.
func (r *Rental) Hourly() bool { return r.PriceType == catalog.PriceHourly }

// MostUnits is the maximum number of units of a rental that one reservation on the page can contain.
const MostUnits = 20

// Most returns the maximum number of units of the rental that a visitor can choose. This is
// [MostUnits], or the number of units that can be booked online if that number is lower. Each unit
// needs one unit of every required extra, so the bookable units of the required extras are limits too.
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

// rentalList is the answer of /rentals. Its fields Rentals and
// AddOnRentals replace the embedded fields with the same JSON names.
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
	r := *found // a copy, because all requests share the value `*found`
	for _, u := range list.RentalUpsells {
		extra := find(u.UpsellRentalID)
		if u.RentalID == id && extra != nil && (u.IsRequired || !b.unpayable(extra) && extra.Most() > 0) {
			r.Extras = append(r.Extras, Extra{extra, u.IsRequired})
		}
	}
	return &r, nil
}

// unpayable reports whether a rental must be paid online although no payment provider is connected.
func (b *Business) unpayable(r *Rental) bool {
	offered := b.Offer.Rental(r.ID)
	return offered != nil && !b.isPaidOnline() && b.Paying(b.Offer.Payments.Modes.Rentals,
		b.dueOfUnit(r, offered.Price)) == PayOnline
}

// dueOfUnit returns the part of the price of one unit that must be paid when the rental is reserved. The argument
// `price` is the price of one unit for the whole rental time. Both amounts are in minor units.
func (b *Business) dueOfUnit(r *Rental, price int64) int64 {
	offered := b.Offer.Rental(r.ID)
	if offered == nil {
		return 0
	}
	return catalog.Due(offered.PaymentRequirement, offered.DepositValue, price, b.Offer.Money())
}

// RentsOnline reports whether customers can reserve the rental with its required extras on the page. It returns false
// if the rental or an extra must be paid online although no payment provider is connected.
func (b *Business) RentsOnline(r *Rental) bool {
	return !b.unpayable(r) && !slices.ContainsFunc(r.Extras, func(e Extra) bool {
		return e.Required && b.unpayable(e.Rental)
	})
}

// Reservation is the reservation that a visitor wants to make: the rental with its time, units and extras.
type Reservation struct {
	Rental *Rental
	From   *timespan.Date
	Start  *timespan.TimeOfDay // nil if not chosen yet, or if the rental has a price per day
	For    int                 // the length in hours or days; 0 if not chosen yet
	Units  int
	extras map[uuid.UUID]bool
	zone   *time.Location // the business's time zone
}

// mostHours and mostDays are the maximum lengths of a reservation on the page, if the owner sets no maximum length.
const (
	mostHours = 24
	mostDays  = 31
)

// ReadReservation reads a reservation from the parameters of a query: from=DATE, start=HH:MM,
// for=N, units=N, and extra=ID for each extra. An invalid value counts as not chosen.
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

// Chosen reports whether the visitor has chosen the date, the
// length and, if the rental has a price per hour, the start.
func (w *Reservation) Chosen() bool {
	return w.From != nil && w.For > 0 && (!w.Rental.Hourly() || w.Start != nil)
}

// With reports whether the extra `e` is part of the reservation.
func (w *Reservation) With(e Extra) bool { return e.Required || w.extras[e.ID] }

// On returns a copy of the reservation for another date.
func (w *Reservation) On(d timespan.Date) *Reservation {
	other := *w
	other.From = &d
	return &other
}

// Until returns the last date of the reservation. For a rental with a price per hour, it also
// returns the time on that date at which the reservation ends. If the reservation ends at midnight,
// the result is 24:00 of the previous date. Hours are elapsed time, as in the rental service.
func (w *Reservation) Until() (timespan.Date, timespan.TimeOfDay) {
	if !w.Rental.Hourly() {
		return *w.From + timespan.Date(w.For-1), 0
	}
	until, ends, _ := timespan.EndAfter(timespan.Instant(*w.From, *w.Start, w.zone), int64(w.For)*3600, w.zone)
	return until, ends
}

// RentalLine is one rental of a reservation, with the number of reserved units.
type RentalLine struct {
	*Rental
	Units int
}

// Lines returns the rental and its chosen extras, in the owner's order. All lines have the same number of units.
func (w *Reservation) Lines() []RentalLine {
	lines := []RentalLine{{w.Rental, w.Units}}
	for _, e := range w.Rental.Extras {
		if w.With(e) {
			lines = append(lines, RentalLine{e.Rental, w.Units})
		}
	}
	return lines
}

// Taken returns the ids of the rental and its chosen extras, in the order of [Reservation.Lines].
func (w *Reservation) Taken() []uuid.UUID {
	var taken []uuid.UUID
	for _, line := range w.Lines() {
		taken = append(taken, line.ID)
	}
	return taken
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

// AllLengths returns the lengths, in hours or days, that the rental allows.
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

// Lengths returns the lengths in [Reservation.AllLengths] for which the rental is free from the chosen start. If no
// start is chosen, or if the chosen start is not in `starts`, Lengths returns the lengths that are possible from at
// least one of the starts.
func (w *Reservation) Lengths(starts []rental.Start) []int {
	isChosen := func(s rental.Start) bool { return s.Time != nil && w.Start != nil && *s.Time == *w.Start }
	if slices.ContainsFunc(starts, isChosen) {
		starts = slices.DeleteFunc(slices.Clone(starts), func(s rental.Start) bool { return !isChosen(s) })
	}
	return slices.DeleteFunc(w.AllLengths(), func(n int) bool {
		return !slices.ContainsFunc(starts, func(s rental.Start) bool { return s.Shortest <= n && n <= s.Longest })
	})
}

// bounds returns the smallest and the largest length of a reservation. The arguments `least` and `most` are the owner's
// limits, or nil. The argument `page` is the largest length if the owner sets no maximum.
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

// Starts returns the times of a date at which a rental with a price
// per hour can begin: every half hour that is not in the past.
func (b *Business) Starts(d timespan.Date) []timespan.TimeOfDay {
	var all []timespan.TimeOfDay
	for at := timespan.TimeOfDay(0); at < timespan.MinutesPerDay; at += 30 {
		if timespan.Instant(d, at, b.Offer.Location()) >= b.Now.Unix() {
			all = append(all, at)
		}
	}
	return all
}

// Opens returns the time at which the business opens on a date. If
// the business has no opening hours on that date, Opens returns 9:00.
func (b *Business) Opens(d timespan.Date) timespan.TimeOfDay {
	windows := b.Offer.WindowsOn(d)
	if len(windows) == 0 {
		return 9 * 60
	}
	return windows[0].From
}

// RentalMonth returns a month with the number of free units on each date, limited
// by the rental and its required extras. For a rental with a price per hour, an
// open date has at least one unit, because some hours of the date may be free.
//
// The field `Day` of the result is the chosen date. If no date is chosen, `Day` is the first date with a free unit. The
// field `Known` is false if availability is unknown. Faults: rental_not_found; invalid_parameter.
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

// handsOverOn reports whether the rental can be picked up or returned on a date, by the opening hours.
func (b *Business) handsOverOn(id uuid.UUID, d timespan.Date) bool {
	offered := b.Offer.Rental(id)
	return offered == nil || b.Offer.HandsOverOn(offered, d)
}

// freeUnits returns, for each date, the number of units that can be rented from the
// date on for the shortest allowed length. For a rental with a price per hour, the number for an open
// date is at least 1, because some hours may still be free. The result is nil if availability is unknown.
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
		for on := date; on < date+longest; on++ { // extras are rented for the same days as the rental
			for id, n := range answer.Days[on] {
				// On a closed day, the number for an extra is 0, because the extra cannot be picked up on that day. But
				// the extra can stay rented over that day, so the number is ignored.
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

// RentalStarts returns the starts on the reservation's date from which the rental
// and all chosen extras are free, with the possible lengths. The second result is
// false if availability is unknown. Faults: rental_not_found; invalid_parameter.
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

// Lacks returns the reason why the reservation cannot be made, as a sentence in the given language.
// If an extra is the reason, the sentence begins with the name of the extra. Lacks returns "" if the
// reservation can be made. Faults: availability_unverified; service_unavailable; invalid_parameter.
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
		case i > 0 && answer.MessageCode == message.Closed: // the opening hours count only for the main rental
		case !answer.Available && i == 0:
			return answer.ConflictReason, nil
		case !answer.Available:
			return line.Name + ": " + answer.ConflictReason, nil
		}
	}
	return "", nil
}

// PriceReservation returns the price of a reservation. The rental service computes the price in the same way: the price
// of one unit for one hour or day, times the hours or days, times the units. Faults: rental_not_found;
// service_unavailable.
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

func (w *Reservation) startsAt(b *Business) time.Time {
	start := timespan.TimeOfDay(0)
	if w.Start != nil {
		start = *w.Start
	}
	return time.Unix(timespan.Instant(*w.From, start, b.Offer.Location()), 0)
}

// length returns the number of hours or days that the customer pays for the rental `r`, which is the main rental or an
// extra. A started hour counts as a whole hour. If the main rental has a price per day, an extra with a price per hour
// costs all hours of the dates.
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

// Reserve makes the reservation, with the booking page as the actor, at most once for each key. It reserves the rental
// and all extras, or nothing. Faults: rental_not_found; conflict if too few units are free or the time is not
// available; invalid_parameter; the faults of the business's account; payment_unavailable.
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

// Reservations lists free starts of rentals and makes reservations; rental.Client implements it.
type Reservations interface {
	Starts(ctx context.Context, slug string, wanted rental.Wanted) (*rental.Starts, error)
	Reserve(ctx context.Context, slug string, wanted rental.NewReservation) (*rental.Reservation, error)
}

// RentalRises reports whether a pricing rule can raise the price of a rental per hour or day above the price `shown`,
// in minor units.
func RentalRises(offer *catalog.Snapshot, id uuid.UUID, shown int64) bool {
	return slices.ContainsFunc(offer.Rules, func(r catalog.Rule) bool {
		applies := r.AppliesTo.Everything() || r.AppliesTo.AllRentals || slices.Contains(r.AppliesTo.Rentals, id)
		return applies && raises(r, shown)
	})
}
