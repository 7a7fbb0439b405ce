package api

import (
	"net/url"
	"testing"

	"github.com/slotmesh/slotmesh/libs/platform/request"
	"github.com/slotmesh/slotmesh/libs/values/fault"
	"github.com/slotmesh/slotmesh/libs/values/timespan"
)

func valuesOf(query string) request.Query {
	parsed, _ := url.ParseQuery(query) // keeps the valid parts of an invalid query
	return func(name string) []string { return parsed[name] }
}

// FuzzQueries parses any query. The only fault is invalid_parameter. Accepted queries are within the limits of
// interface.md §8.
func FuzzQueries(f *testing.F) {
	for _, query := range []string{
		"rentalId=22222222-2222-4222-8222-222222222222&startDate=2027-06-11&endDate=2027-06-12&quantity=3&startTime=09:00&endTime=24:00",
		"rentalId=22222222-2222-4222-8222-222222222222&startDate=0000-01-01&endDate=9999-12-31&quantity=1001",
		"rental_id=22222222-2222-4222-8222-222222222222,22222222-2222-4222-8222-222222222222&start=2027-06-11&end=2027-08-11",
		"rental_id=,&start=2027-02-29&end=%00&lang=%ff",
	} {
		f.Add(query)
	}
	f.Fuzz(func(t *testing.T, query string) {
		q, err := parseAvailability(valuesOf(query))
		if err != nil && !fault.Is(err, fault.InvalidParameter) {
			t.Errorf("availability: %v", err)
		}
		if days := q.Dates.To - q.Dates.From + 1; err == nil &&
			(days < 1 || days > 730 || q.Quantity < 1 || q.Quantity > 1000) {
			t.Errorf("availability passes %+v", q)
		}
		for _, at := range []*timespan.TimeOfDay{q.Start, q.End} {
			if err == nil && at != nil && (*at < 0 || *at > 1440) {
				t.Errorf("availability passes the time %d", *at)
			}
		}
		d, err := parseAvailableDates(valuesOf(query))
		if err != nil && !fault.Is(err, fault.InvalidParameter) {
			t.Errorf("dates: %v", err)
		}
		if days := d.Dates.To - d.Dates.From + 1; err == nil && (days < 1 || days > 62 || len(d.RentalIDs) < 1 ||
			len(d.RentalIDs) > 20) {
			t.Errorf("dates pass %+v", d)
		}
	})
}
