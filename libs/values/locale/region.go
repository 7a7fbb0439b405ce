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
