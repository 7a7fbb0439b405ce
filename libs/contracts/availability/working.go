package availability

import (
	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/values/report"
	"github.com/slotmesh/slotmesh/libs/values/timespan"
)

// WorkingTimeRequest requests the working time of each active staff member. The
// working time is computed from the published hours ([ComputeWorkingTime]).
type WorkingTimeRequest struct {
	Slug         string `json:"slug"`
	OfferVersion int64  `json:"offer_version"` // the response is computed from this version or a newer one
	report.Query
}

// Tenant returns the slug of the business.
func (r WorkingTimeRequest) Tenant() string { return r.Slug }

// WorkingTime is the working time of staff members in each period. A period in which a member does not work has no row.
type WorkingTime struct {
	Rows []WorkingTimeRow `json:"rows"` // by staff member in Auto-Assign order, then by date
}

// WorkingTimeRow is the working time of one staff member in one period.
type WorkingTimeRow struct {
	Date    timespan.Date `json:"date"` // first date of the period
	StaffID uuid.UUID     `json:"staff_id"`
	Minutes int64         `json:"minutes"` // working time without blocked time
}
