package timespan

import (
	"time"

	"github.com/slotmesh/slotmesh/libs/values/zone"
)

// Zone returns the time zone with an IANA name. It returns the argument `fallback` if the name is "" or unknown.
func Zone(name string, fallback *time.Location) *time.Location {
	if name == "" {
		return fallback
	}
	if location, err := zone.Load(name); err == nil {
		return location
	}
	return fallback
}
