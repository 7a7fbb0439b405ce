package api_test

import (
	"errors"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/slotmesh/slotmesh/libs/contracts/catalog"
)

func TestAvailabilityDependsOnBusiestDay(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.reserve(t, bike, 7, "2027-06-11", "2027-06-12")
	s.reserve(t, bike, 7, "2027-06-13", "2027-06-15")
	ask := func(quantity int) reply {
		return s.check(t, "rentalId", bike, "startDate", "2027-06-11", "endDate", "2027-06-15", "quantity",
			strconv.Itoa(quantity))
	}
	ask(3).expect(t, 200, available)
	ask(4).expect(t, 200, unavailable("not_enough_units", "Only 3 units are available at that time."))
	s.reserve(t, bike, 3, "2027-06-13", "2027-06-13")
	ask(1).expect(t, 200, unavailable("nothing_available", "Nothing is available at that time."))
	s.check(t, "rentalId", bike, "startDate", "2027-06-14", "endDate", "2027-06-15", "quantity", "3").expect(t, 200,
		available)
}

func TestAvailabilityOfHourlyRentalUsesHours(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.reserve(t, kayak, 3, "2027-06-11", "2027-06-11", "09:00", "11:00")
	s.reserve(t, kayak, 2, "2027-06-11", "2027-06-12", "11:00", "02:00")
	for _, ask := range []struct {
		from, start, to, end string
		want                 string
	}{
		{"2027-06-11", "08:00", "2027-06-11", "09:00", available},
		{"2027-06-11", "08:00", "2027-06-11", "09:01",
			unavailable("nothing_available", "Nothing is available at that time.")},
		{"2027-06-11", "11:00", "2027-06-12", "03:00",
			unavailable("not_enough_units", "Only 1 unit is available at that time.")},
		{"2027-06-11", "22:00", "2027-06-12", "01:00",
			unavailable("not_enough_units", "Only 1 unit is available at that time.")},
		{"2027-06-12", "02:00", "2027-06-12", "24:00", available},
		// The next query has no times, so it is for whole days.
		{"2027-06-11", "", "2027-06-11", "", unavailable("nothing_available", "Nothing is available at that time.")},
		{"2027-06-13", "", "2027-06-14", "", available},
	} {
		s.check(t, "rentalId", kayak, "quantity", "2", "startDate", ask.from, "endDate", ask.to, "startTime", ask.start,
			"endTime", ask.end).expect(t, 200, ask.want)
	}
}

func TestAvailabilityOfDailyRentalIgnoresTimes(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.reserve(t, single, 1, "2027-06-11", "2027-06-11", "09:00", "10:00")
	for _, times := range [][]string{{"startTime", "20:00", "endTime", "21:00"}, {"startTime", "20:00"},
		{"startTime", "20:00", "endTime", "08:00"}} {
		query := append([]string{"rentalId", single, "startDate", "2027-06-11", "endDate", "2027-06-11"}, times...)
		s.check(t, query...).expect(t, 200, unavailable("nothing_available", "Nothing is available at that time."))
	}
	s.check(t, "rentalId", single, "startDate", "2027-06-12", "endDate", "2027-06-12", "startTime", "20:00").expect(t,
		200, available)
}

func TestAvailabilityCountsUnitsInService(t *testing.T) {
	t.Parallel()
	s := start(t)
	ask := func(id, quantity, date string) reply {
		return s.check(t, "rentalId", id, "quantity", quantity, "startDate", date, "endDate", date)
	}
	ask(tent, "3", "2027-06-11").expect(t, 200, available)
	ask(tent, "4", "2027-06-11").expect(t, 200,
		unavailable("not_enough_units", "Only 3 units are available at that time."))
	ask(tent, "3", "2027-06-13").expect(t, 200,
		unavailable("not_enough_units", "Only 2 units are available at that time."))
	ask(tent, "3", "2027-06-14").expect(t, 200, available)
	ask(unicorn, "1", "2027-06-14").expect(t, 200,
		unavailable("nothing_available", "Nothing is available at that time."))
}

func TestAvailabilityOfUnofferedRentalIsNotFound(t *testing.T) {
	t.Parallel()
	s := start(t)
	for _, id := range []string{unknown, retired} {
		s.check(t, "rentalId", id, "startDate", "2027-06-11", "endDate", "2027-06-11").
			expect(t, 200, unavailable("rental_not_found", "Rental not found"))
	}
	s.change(func(n *fakePeers) {
		closed := *n.offer
		closed.Modules.Rentals = false
		n.offer = &closed
	})
	s.check(t, "rentalId", bike, "startDate", "2027-06-11", "endDate", "2027-06-11").
		expect(t, 200, unavailable("rental_not_found", "Rental not found"))
}

func TestAvailabilityChecksDatesInBusinessTime(t *testing.T) {
	t.Parallel()
	s := start(t)
	past := unavailable("date_in_past", "The requested dates begin in the past.")
	beyond := unavailable("beyond_advance_limit", "The requested dates are too far ahead to be booked yet.")
	ask := func(from, to string) reply { return s.check(t, "rentalId", bike, "startDate", from, "endDate", to) }
	ask("2027-06-09", "2027-06-20").expect(t, 200, past)
	ask("2027-06-09", "2028-06-30").expect(t, 200, past)
	ask("2027-06-10", "2028-06-09").expect(t, 200, available) // the last permitted date: today + 365 days
	ask("2027-06-10", "2028-06-10").expect(t, 200, beyond)
	s.clock.Set(time.Date(2027, time.June, 10, 23, 30, 0, 0, time.UTC)) // 00:30 on the 11th in Lisbon
	ask("2027-06-10", "2027-06-10").expect(t, 200, past)
	ask("2027-06-11", "2028-06-10").expect(t, 200, available)
}

// TestAvailabilityChecksLength checks the limits of the rental period (semantics.md §4).
// The number of days includes the first and the last. The limits in hours apply only to requests with times.
func TestAvailabilityChecksLength(t *testing.T) {
	t.Parallel()
	s := start(t)
	two, four := 2, 4
	s.edit(func(o *catalog.Snapshot) {
		o.Rentals[0].MinRentalDays, o.Rentals[0].MaxRentalDays = &two, &four
		o.Rentals[1].MinRentalHours, o.Rentals[1].MaxRentalHours = &two, &four
	})
	short := unavailable("too_short", "The requested time is shorter than the minimum rental period.")
	long := unavailable("too_long", "The requested time is longer than the maximum rental period.")
	past := unavailable("date_in_past", "The requested dates begin in the past.")
	for _, ask := range []struct{ id, from, start, to, end, want string }{
		{bike, "2027-06-20", "", "2027-06-20", "", short},
		{bike, "2027-06-20", "", "2027-06-21", "", available},
		{bike, "2027-06-20", "", "2027-06-23", "", available},
		{bike, "2027-06-20", "", "2027-06-24", "", long},
		{bike, "2027-06-09", "", "2027-06-09", "", past},
		{kayak, "2027-06-20", "10:00", "2027-06-20", "11:59", short},
		{kayak, "2027-06-20", "10:00", "2027-06-20", "12:00", available},
		{kayak, "2027-06-20", "22:00", "2027-06-21", "02:00", available},
		{kayak, "2027-06-20", "22:00", "2027-06-21", "02:01", long},
		{kayak, "2027-06-20", "", "2027-06-20", "", available},
	} {
		s.check(t, "rentalId", ask.id, "startDate", ask.from, "endDate", ask.to, "startTime", ask.start, "endTime",
			ask.end).
			expect(t, 200, ask.want)
	}
}

func TestAvailabilityCountsHandedOutUnitsUntilMidnight(t *testing.T) {
	t.Parallel()
	s := start(t)
	r := s.reserve(t, single, 1, "2027-06-08", "2027-06-09")
	today := func() reply {
		return s.check(t, "rentalId", single, "startDate", "2027-06-10", "endDate", "2027-06-10")
	}
	today().expect(t, 200, available) // the reservation before was not picked up
	s.applyTransition(t, r.ID, "pickup")
	none := unavailable("nothing_available", "Nothing is available at that time.")
	today().expect(t, 200, none)
	s.check(t, "rentalId", single, "startDate", "2027-06-10", "endDate", "2027-06-11").expect(t, 200, none)
	s.check(t, "rentalId", single, "startDate", "2027-06-11", "endDate", "2027-06-11").expect(t, 200, available)
	s.days(t, "rental_id", single, "start", "2027-06-10", "end", "2027-06-11").expect(t, 200,
		`{"days": {"2027-06-10": {"`+single+`": 0}, "2027-06-11": {"`+single+
			`": 1}}, "computed": true, "timezone": "Europe/Lisbon"}`)
	s.applyTransition(t, r.ID, "return")
	today().expect(t, 200, available)
}

func TestReasonUsesRequestedLanguage(t *testing.T) {
	t.Parallel()
	s := start(t)
	query := []string{"rentalId", bike, "startDate", "2027-06-11", "endDate", "2027-06-11", "quantity", "13"}
	header := func(cookie string) http.Header {
		h := http.Header{"X-Forwarded-For": {nextAddress()}}
		if cookie != "" {
			h.Set("Cookie", "other=1; service_language="+cookie)
		}
		return h
	}
	for _, ask := range []struct{ lang, cookie, want string }{
		{"de", "fr", "In diesem Zeitraum sind nur 10 Stück verfügbar."},
		{"", "pl", "W tym terminie dostępnych jest tylko 10 sztuk."},
		{"tlh", "ar", "تتوفر ١٠ قطع فقط في هذا الوقت."},
		{"xx", "!", "Só há 10 unidades disponíveis nesse período."},
		{"", "", "Só há 10 unidades disponíveis nesse período."},
		{"\x00\xff", "", "Só há 10 unidades disponíveis nesse período."},
	} {
		s.get(t, "harbor/rental-availability", header(ask.cookie), append([]string{"lang", ask.lang}, query...)...).
			expect(t, 200, unavailable("not_enough_units", ask.want))
	}
	s.change(func(n *fakePeers) {
		klingon := *n.offer
		klingon.DefaultLanguage = "tlh"
		n.offer = &klingon
	})
	s.get(t, "harbor/rental-availability", nil, query...).
		expect(t, 200, unavailable("not_enough_units", "Only 10 units are available at that time."))
}

func TestAvailabilityRejectsInvalidParameters(t *testing.T) {
	t.Parallel()
	s := start(t)
	good := map[string]string{"rentalId": kayak, "startDate": "2027-06-11", "endDate": "2027-06-11"}
	for _, ask := range []struct{ name, value string }{
		{"rentalId", ""}, {"rentalId", "x"}, {"rentalId", "{" + kayak + "}"}, {"rentalId", kayak + "," + bike},
		{"startDate", ""}, {"startDate", "2027-02-29"}, {"startDate", "11.06.2027"}, {"startDate", "2027-06-12"},
		{"endDate", ""}, {"endDate", "2027-13-01"}, {"endDate", "2027-06-10"}, {"endDate", "2029-06-10"},
		{"endDate", "9999-12-31"},
		{"quantity", "0"}, {"quantity", "1001"}, {"quantity", "-1"}, {"quantity", "1.5"}, {"quantity", "many"},
		{"quantity", "99999999999999999999"},
		{"startTime", "9:00"}, {"startTime", "25:00"}, {"startTime", "24:00"}, {"endTime", "10:60"},
		{"startTime", "\x00"}, {"endTime", "\xff"},
		{"startTime", "09:00"}, {"endTime", "09:00"},
	} {
		query := []string{}
		for name, value := range good {
			if name != ask.name {
				query = append(query, name, value)
			}
		}
		answer := s.check(t, append(query, ask.name, ask.value)...)
		field := ask.name
		if ask.name == "startDate" && ask.value == "2027-06-12" {
			field = "endDate"
		}
		if answer.status != 400 || !strings.Contains(answer.body, `"messageCode":"invalid_parameter"`) ||
			!strings.Contains(answer.body, field) {
			t.Errorf("%s=%q: %d %s", ask.name, ask.value, answer.status, answer.body)
		}
	}
	for _, times := range [][2]string{{"10:00", "10:00"}, {"10:00", "09:00"}} {
		answer := s.check(t, "rentalId", kayak, "startDate", "2027-06-11", "endDate", "2027-06-11", "startTime",
			times[0], "endTime", times[1])
		if answer.status != 400 || !strings.Contains(answer.body, "endTime") {
			t.Errorf("%v: %d %s", times, answer.status, answer.body)
		}
	}
	s.check(t, "rentalId", kayak, "startDate", "2027-06-11", "endDate", "2029-06-09").
		// 730 days, the longest period that a request may have
		expect(t, 200, unavailable("beyond_advance_limit", "The requested dates are too far ahead to be booked yet."))
	if answer := s.check(t, "rentalId", kayak, "rentalId", bike, "startDate", "2027-06-11", "endDate",
		"2027-06-11"); answer.status != 400 {
		t.Errorf("an id given twice: %d %s", answer.status, answer.body)
	}
}

func TestAvailabilityOfUnknownBusinessIsNotFound(t *testing.T) {
	t.Parallel()
	s := start(t)
	for _, at := range []string{
		s.public + "/api/public/elsewhere/rental-availability?rentalId=" + bike +
			"&startDate=2027-06-11&endDate=2027-06-11",
		s.base + "/internal/api/public/elsewhere/rental-available-dates?rental_id=" + bike +
			"&start=2027-06-11&end=2027-06-11",
	} {
		answer, err := http.Get(at)
		if err != nil {
			t.Fatal(err)
		}
		read(t, answer).expect(t, 404, `{"error": "Business not found", "messageCode": "business_not_found"}`)
	}
}

func TestUnreadableDataIsUnverified(t *testing.T) {
	t.Parallel()
	for name, breakIt := range map[string]func(*fakePeers){
		"offer":        func(n *fakePeers) { n.offerErr = errors.New("catalog is away") },
		"reservations": func(n *fakePeers) { n.occupyingErr = errors.New("the database is away") },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := start(t)
			s.change(breakIt)
			s.check(t, "rentalId", bike, "startDate", "2027-06-11", "endDate", "2027-06-11").expect(t, 503,
				`{"error": "Availability could not be checked; try again shortly.", "messageCode": "availability_unverified"}`)
			zone := map[string]string{"offer": "", "reservations": "Europe/Lisbon"}[name]
			s.days(t, "rental_id", bike, "start", "2027-06-11", "end", "2027-06-11").
				expect(t, 200, `{"days": {}, "computed": false, "timezone": "`+zone+`"}`)
			if answer := s.days(t, "rental_id", "x", "start", "2027-06-11", "end", "2027-06-11"); answer.status != 400 {
				t.Errorf("a bad question: %d %s", answer.status, answer.body)
			}
		})
	}
}

func TestLimitAllowsSixtyRequestsPerMinute(t *testing.T) {
	t.Parallel()
	s := start(t)
	const path = "harbor/rental-availability"
	mine := http.Header{"X-Forwarded-For": {nextAddress()}}
	for i := range 60 {
		if answer := s.get(t, path, mine); answer.status != 400 {
			t.Fatalf("request %d: %d %s", i+1, answer.status, answer.body)
		}
	}
	answer := s.get(t, path, mine)
	if answer.status != 429 || answer.header.Get("Retry-After") != "60" || !strings.Contains(answer.body,
		`"rate_limited"`) {
		t.Errorf("request 61: %d %v %s", answer.status, answer.header, answer.body)
	}
	if answer := s.get(t, path, nil); answer.status != 400 {
		t.Errorf("another address: %d", answer.status)
	}
}
