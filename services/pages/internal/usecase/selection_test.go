package usecase_test

import (
	"net/url"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"
	"pgregory.net/rapid"

	"github.com/slotmesh/slotmesh/libs/values/fault"
	"github.com/slotmesh/slotmesh/libs/values/timespan"
	"github.com/slotmesh/slotmesh/services/pages/internal/usecase"
)

// ids draws one of six ids, so that some services occur twice.
var ids = rapid.Map(rapid.Uint8Range(0, 5), func(n uint8) uuid.UUID {
	return uuid.NewSHA1(uuid.NameSpaceOID, []byte{n})
})

func TestSelectionQueryRoundTrip(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		s := usecase.Selection{
			Services: rapid.SliceOfN(ids, 1, 5).Draw(t, "services"),
			Staff: rapid.OneOf(rapid.SampledFrom([]string{"", usecase.AnyStaff, usecase.AnyStaffPerService}),
				rapid.Map(ids, uuid.UUID.String)).Draw(t, "staff"),
		}
		for _, id := range s.Services {
			if rapid.Bool().Draw(t, "varied") {
				if s.Variants == nil {
					s.Variants = map[uuid.UUID]uuid.UUID{}
				}
				s.Variants[id] = ids.Draw(t, "variant")
			}
		}
		if rapid.Bool().Draw(t, "started") {
			date, at := timespan.Date(rapid.Int32Range(0, 50_000).Draw(t, "date")),
				timespan.TimeOfDay(rapid.IntRange(0, 1439).Draw(t, "time"))
			s.Date, s.Time = &date, &at
		}
		query, err := url.ParseQuery(s.Values().Encode())
		if err != nil {
			t.Fatal(err)
		}
		parsed, err := usecase.ReadSelection(query)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(s, parsed); diff != "" {
			t.Errorf("(-chosen +read):\n%s", diff)
		}
	})
}

func TestReadSelectionRejectsInvalidQuery(t *testing.T) {
	t.Parallel()
	id := uuid.NewString()
	for _, query := range []string{"service=x", "service=" + id + ":x", "service=" + id + "&staff=me",
		"service=" + id + "&date=2027-02-30", "service=" + id + "&time=25:00", "session=x"} {
		values, err := url.ParseQuery(query)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := usecase.ReadSelection(values); !fault.Is(err, fault.InvalidParameter) {
			t.Errorf("%s: %v", query, err)
		}
	}
	many := url.Values{}
	for range 21 {
		many.Add("service", id)
	}
	if _, err := usecase.ReadSelection(many); !fault.Is(err, fault.InvalidParameter) {
		t.Errorf("21 services: %v", err)
	}
}
