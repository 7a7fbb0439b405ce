package foreign

import (
	"encoding/json"
	"fmt"
	"strings"
)

// Business has the values of a draft that no file has. The `manifest` package validates them.
type Business struct {
	Slug, Name, Timezone string
	Currency             string // "": that of the files, or EUR
}

// assumedMinutes is the duration of a service whose duration no file has.
const assumedMinutes = 60

// Draft returns a manifest as YAML. Comments mark what the owner has to complete.
func (o *Offer) Draft(b Business) string {
	currency := b.Currency
	if currency == "" {
		currency = o.Currency
	}
	if currency == "" {
		currency = "EUR"
	}
	var out strings.Builder
	fmt.Fprintf(&out, `# A draft: look at each line, then check it with slotmesh validate -f FILE and publish it with slotmesh apply -f FILE.
apiVersion: slotmesh/v1
kind: Business
slug: %s
name: %s
currency: %s
timezone: %s
default_language: en
languages: [en]
modules: {services: true, events: false, rentals: false}

hours: # check: the files do not have the opening hours
  mon: ["09:00-17:00"]
  tue: ["09:00-17:00"]
  wed: ["09:00-17:00"]
  thu: ["09:00-17:00"]
  fri: ["09:00-17:00"]
`, b.Slug, quote(b.Name), currency, quote(b.Timezone))
	keys, used := map[string]string{}, map[string]bool{}
	if len(o.Staff) > 0 {
		out.WriteString("\nstaff:\n")
	}
	for _, name := range o.Staff {
		keys[name] = newKey(name, used)
		fmt.Fprintf(&out, "  - {key: %s, name: %s}\n", quote(keys[name]), quote(name))
	}
	out.WriteString("\nservices:\n")
	used = map[string]bool{}
	for _, s := range o.Services {
		out.WriteString(s.draft(newKey(s.Name, used), keys))
	}
	return out.String()
}

// draft returns the lines of a service. The map `staff` has the keys of people by their names.
func (s Service) draft(key string, staff map[string]string) string {
	minutes, price, comment := s.Minutes, s.Price, ""
	if minutes == 0 {
		minutes, comment = assumedMinutes, " # check the duration"
	}
	if price == "" {
		price, comment = "0", comment+" # check the price"
	}
	line := fmt.Sprintf("  - key: %s\n    name: %s\n    duration_minutes: %d%s\n    price: %s\n", quote(key), quote(s.Name),
		minutes, comment, price)
	var by []string
	for _, name := range s.Staff {
		if k, ok := staff[name]; ok {
			by = append(by, quote(k))
		}
	}
	if len(by) > 0 {
		line += "    staff: [" + strings.Join(by, ", ") + "]\n"
	}
	return line
}

// quote returns a text as a quoted YAML value. A JSON string is one.
func quote(text string) string {
	quoted, err := json.Marshal(text)
	if err != nil {
		panic(err) // encoding/json encodes every string
	}
	return string(quoted)
}
