package timespan

import "time"

// Zone returns the time zone of an IANA name, or otherwise where the name is "" or not known.
func Zone(name string, otherwise *time.Location) *time.Location {
	if name == "" {
		return otherwise
	}
	if zone, err := time.LoadLocation(name); err == nil {
		return zone
	}
	return otherwise
}
