package sales

import (
	"context"
	"log/slog"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/slotmesh/slotmesh/libs/contracts/availability"
	"github.com/slotmesh/slotmesh/libs/contracts/catalog"
	"github.com/slotmesh/slotmesh/libs/values/fault"
	"github.com/slotmesh/slotmesh/libs/values/timespan"
)

// WantedStart describes the free starts to find. Service is the id of a service, or the ids of a service and a variant
// with ":" between them. Staff and Location are ids, or "" for any. People is the number of people, or 0 if it is
// unknown. From is the first date.
type WantedStart struct {
	Service, Staff, Location string
	People                   int
	From                     timespan.Date
}

// NextStarts has the nearest free starts, by day.
type NextStarts struct{ Days []FreeDay }

// FreeDay has the first free starts of one day, in order.
type FreeDay struct {
	Date  timespan.Date
	Times []timespan.TimeOfDay
}

const (
	maxAheadDays = 14 // number of days of which FindNextStarts finds starts
	maxFreeDays  = 3  // maximum number of days that NextStarts has
	maxDayStarts = 6  // maximum number of starts of one day
)

// FindNextStarts returns the nearest starts that customers can book, within maxAheadDays. It returns nil if there is no
// such service, or if the availability service is unavailable.
func (o *UseCases) FindNextStarts(ctx context.Context, business *catalog.Snapshot, wanted WantedStart) (*NextStarts,
	error) {
	service, _, hasVariant := strings.Cut(wanted.Service, ":")
	query := url.Values{"service_id": {service}}
	if hasVariant {
		query.Set("variants", wanted.Service)
	}
	if wanted.Location != "" {
		query.Set("location_id", wanted.Location)
	}
	if wanted.People > 0 {
		query.Set("party_size", strconv.Itoa(wanted.People))
	}
	if wanted.Staff != "" {
		query.Set("staff_id", wanted.Staff)
	} else {
		query.Set("is_package", "true") // lists each start once for all free members
	}
	query.Set("start", wanted.From.String())
	query.Set("end", (wanted.From + maxAheadDays - 1).String())
	calendar := availability.NewClient(o.Availability)
	dates, err := calendar.AvailableDates(ctx, business.Slug, query)
	if err != nil || !dates.Computed {
		return o.skipUnknownStarts(ctx, err)
	}
	next := &NextStarts{}
	for date := wanted.From; date < wanted.From+maxAheadDays && len(next.Days) < maxFreeDays; date++ {
		if dates.Days[date] == 0 {
			continue
		}
		query.Set("date", date.String())
		slots, err := calendar.Slots(ctx, business.Slug, query)
		if err != nil || !slots.Computed {
			return o.skipUnknownStarts(ctx, err)
		}
		day := FreeDay{Date: date}
		for _, s := range slots.Slots {
			if len(day.Times) < maxDayStarts && !slices.Contains(day.Times, s.Time) {
				day.Times = append(day.Times, s.Time)
			}
		}
		next.Days = append(next.Days, day)
	}
	return next, nil
}

// skipUnknownStarts returns nil for the starts that could not be found. The error is nil if the person can book without
// them.
func (o *UseCases) skipUnknownStarts(ctx context.Context, err error) (*NextStarts, error) {
	switch fault.KindOf(err) {
	case fault.PeerUnavailable:
		o.Logger.WarnContext(ctx, "the free starts of a service are unknown", slog.Any("error", err))
		return nil, nil
	case fault.ServiceNotFound, fault.InvalidParameter, fault.LocationNotFound, fault.StaffNotFound:
		return nil, nil
	default: // other faults are the answer to the person
	}
	return nil, err
}
