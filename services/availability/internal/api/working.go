package api

import (
	"context"

	"github.com/slotmesh/slotmesh/libs/contracts/availability"
	"github.com/slotmesh/slotmesh/libs/contracts/catalog"
	"github.com/slotmesh/slotmesh/libs/values/report"
	"github.com/slotmesh/slotmesh/libs/values/timespan"
	"github.com/slotmesh/slotmesh/services/availability/internal/slot"
)

// computeWorkingTime returns the working time of staff members, for utilization reports.
func (p *Public) computeWorkingTime(ctx context.Context,
	req availability.WorkingTimeRequest) (*availability.WorkingTime, error) {
	if err := req.Check(); err != nil {
		return nil, err
	}
	offer, err := p.offers.AtLeast(ctx, req.Slug, req.OfferVersion)
	if err != nil {
		return nil, err
	}
	leave, err := p.places.Enter(ctx, req.Slug)
	if err != nil {
		return nil, err
	}
	defer leave()
	rows := sumWorkingTime(offer, req.Query)
	if len(rows) > report.MaxRows {
		return nil, report.TooManyRows()
	}
	return &availability.WorkingTime{Rows: rows}, nil
}

// sumWorkingTime returns the working time of each staff member in each period of the report, in minutes.
func sumWorkingTime(offer *catalog.Snapshot, q report.Query) []availability.WorkingTimeRow {
	rows := []availability.WorkingTimeRow{}
	seconds := int64(0)
	slot.ComputeWorkingTime(offer, q.From, q.To, func(m *catalog.Staff, d timespan.Date, worked int64) {
		seconds += worked
		if start := q.By.Start(d); d == q.To || q.By.Start(d+1) != start {
			if seconds > 0 {
				rows = append(rows, availability.WorkingTimeRow{Date: start, StaffID: m.ID, Minutes: seconds / 60})
			}
			seconds = 0
		}
	})
	return rows
}
