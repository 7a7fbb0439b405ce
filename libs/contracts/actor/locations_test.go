package actor_test

import (
	"slices"
	"testing"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/contracts/actor"
)

func TestLocationsRoundTrip(t *testing.T) {
	t.Parallel()
	for _, locations := range [][]uuid.UUID{{uuid.New()}, {uuid.New(), uuid.Nil, uuid.New()}} {
		got, err := actor.ParseLocations(actor.FormatLocations(locations))
		if err != nil || !slices.Equal(got, locations) {
			t.Errorf("got %v, %v, want %v", got, err, locations)
		}
	}
	for _, text := range []string{"", ",", "all", uuid.NewString() + ",", uuid.NewString() + ", " + uuid.NewString()} {
		if got, err := actor.ParseLocations(text); err == nil {
			t.Errorf("%q is read as %v", text, got)
		}
	}
}

func TestMayUseFollowsLocations(t *testing.T) {
	t.Parallel()
	here, there := uuid.New(), uuid.New()
	limited := actor.LimitTo(t.Context(), []uuid.UUID{here})
	for name, c := range map[string]struct{ got, want bool }{
		"not limited": {actor.MayUse(t.Context(), there), true},
		"limit ended": {actor.MayUse(actor.LimitTo(limited, nil), there), true},
		"listed":      {actor.MayUse(limited, here), true},
		"other":       {actor.MayUse(limited, there), false},
		"no location": {actor.MayUse(limited, uuid.Nil), false},
		"empty limit": {actor.MayUse(actor.LimitTo(t.Context(), []uuid.UUID{}), here), false},
	} {
		if c.got != c.want {
			t.Errorf("%s: got %v, want %v", name, c.got, c.want)
		}
	}
}
