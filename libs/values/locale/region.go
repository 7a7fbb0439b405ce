package locale

import (
	_ "embed"
	"strings"
	"sync"
)

// zones has one line for each time zone in tzdata's zone.tab: its name and the ISO 3166
// code of its country. Update it from zone.tab when package zone gets newer rules.
//
//go:embed zones.txt
var zones string

var regions = sync.OnceValue(func() map[string]string {
	all := map[string]string{}
	for line := range strings.Lines(zones) {
		zone, region, _ := strings.Cut(strings.TrimSpace(line), " ")
		all[zone] = region
	}
	return all
})

// RegionOf returns the ISO 3166 code of the country in which a time zone lies, such as
// GB for Europe/London. It returns "" for a time zone without a country, such as UTC.
func RegionOf(zone string) string { return regions()[zone] }

// OnlyZoneOf returns the time zone of a country that has a single time zone, such as
// Asia/Tokyo for JP. It returns "" for a country with several time zones, and for an unknown country.
func OnlyZoneOf(region string) string {
	only := ""
	for zone, of := range regions() {
		if of != region {
			continue
		}
		if only != "" {
			return ""
		}
		only = zone
	}
	return only
}
