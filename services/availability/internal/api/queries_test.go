package api

import (
	"strings"
	"testing"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/contracts/catalog"
	"github.com/slotmesh/slotmesh/libs/values/timespan"
)

// TestCalendarsSendOneRequestToBooking counts the requests to booking. A test of booking counts the statements of one
// such request (roundtrips_test.go).
func TestCalendarsSendOneRequestToBooking(t *testing.T) {
	t.Parallel()
	day, err := timespan.ParseDate(monday)
	if err != nil {
		t.Fatal(err)
	}
	for _, members := range []int{1, 300} {
		s := startService(t, func(n *fakePeers) {
			o := n.offer
			o.Bookings.AdvanceDays = 365
			o.Staff, o.Services[0].StaffIDs = nil, nil
			for i := range members {
				id := uuid.UUID{1, byte(i), byte(i >> 8)}
				o.Staff = append(o.Staff, catalog.Staff{ID: id, Active: true})
				o.Services[0].StaffIDs = append(o.Services[0].StaffIDs, id)
			}
			for d := range o.Hours {
				o.Hours[d] = []timespan.Window{{From: 0, To: 24 * 60}}
			}
			if err := o.Prepare(); err != nil {
				t.Fatal(err)
			}
		})
		for _, services := range []int{1, 20} {
			ids := strings.TrimSuffix(strings.Repeat(haircut.String()+",", services), ",")
			for _, days := range []int{1, 62} {
				for _, query := range [][]string{{}, {"is_package", "true", "staffing_mode", "per_service"}} {
					query = append(query, "service_id", ids, "date", monday, "start", monday, "end",
						(day + timespan.Date(days) - 1).String())
					s.requestedWindows = nil
					dates := s.get(t, "harbor/available-dates", query...)
					if n := len(s.requestedWindows); n != 1 || dates.status != 200 || strings.Count(dates.body,
						"2027-") != days {
						t.Errorf("/available-dates of %d days, %d services, %d members asked booking %d times: %s",
							days, services, members, n, dates.body)
					}
					s.requestedWindows = nil
					if s.get(t, "harbor/slots", query...); len(s.requestedWindows) != 1 {
						t.Errorf("/slots of %d services, %d members asked booking %d times", services, members,
							len(s.requestedWindows))
					}
				}
			}
		}
	}
}
