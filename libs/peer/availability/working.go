package availability

import (
	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/report"
	"github.com/slotmesh/slotmesh/libs/timespan"
)

// WorkingTimeRequest asks how long each active member works (POST /internal/working-time), by the hours that are published now.
type WorkingTimeRequest struct {
	Slug         string `json:"slug"`
	OfferVersion int64  `json:"offer_version"` // the answer is computed on this version or a newer one
	report.Query
}

// Tenant is the business's slug.
func (r WorkingTimeRequest) Tenant() string { return r.Slug }

// WorkingTime is how long members work. Stretches in which one does not work have no row.
type WorkingTime struct {
	Rows []WorkingTimeRow `json:"rows"` // by member in Auto-Assign order, then date
}

// WorkingTimeRow is one member in one stretch.
type WorkingTimeRow struct {
	Date    timespan.Date `json:"date"` // the first of the stretch
	StaffID uuid.UUID     `json:"staff_id"`
	Minutes int64         `json:"minutes"` // in the windows that the calendars read, without blocked time
}
