package actor

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/google/uuid"
)

// LocationsHeader is a header of requests between services. It lists the ids of the locations to which
// the actor is limited, separated by commas. Without the header, the actor is not limited.
const LocationsHeader = "Slotmesh-Locations"

type locationsKey struct{}

// LimitTo returns a context whose actor may see and change only bookings at the given locations. The nil UUID
// stands for bookings without a stored location. If the argument `locations` is nil, the actor is not limited.
func LimitTo(ctx context.Context, locations []uuid.UUID) context.Context {
	return context.WithValue(ctx, locationsKey{}, locations)
}

// Locations returns the locations to which the actor of a context is limited, or nil if the actor is not limited.
func Locations(ctx context.Context) []uuid.UUID {
	locations, _ := ctx.Value(locationsKey{}).([]uuid.UUID)
	return locations
}

// MayUse reports whether the actor of a context may see and change bookings at a location.
func MayUse(ctx context.Context, location uuid.UUID) bool {
	locations := Locations(ctx)
	return locations == nil || slices.Contains(locations, location)
}

// FormatLocations returns the value of [LocationsHeader], which [ParseLocations] reads.
func FormatLocations(locations []uuid.UUID) string {
	texts := make([]string, len(locations))
	for i, id := range locations {
		texts[i] = id.String()
	}
	return strings.Join(texts, ",")
}

// ParseLocations parses the value of [LocationsHeader]. The value has at least one id.
func ParseLocations(text string) ([]uuid.UUID, error) {
	var locations []uuid.UUID
	for part := range strings.SplitSeq(text, ",") {
		id, err := uuid.Parse(part)
		if err != nil {
			return nil, fmt.Errorf("no id of a location: %.40q", part)
		}
		locations = append(locations, id)
	}
	return locations, nil
}
