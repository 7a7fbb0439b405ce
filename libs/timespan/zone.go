package timespan

import (
	"time"

	"github.com/slotmesh/slotmesh/libs/zone"
)

// Zone returns the time zone of an IANA name, or otherwise where the name is "" or not known.
func Zone(name string, otherwise *time.Location) *time.Location {
	if name == "" {
		return otherwise
	}
	if location, err := zone.Load(name); err == nil {
		return location
	}
	return otherwise
}
