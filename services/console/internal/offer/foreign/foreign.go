// Package foreign drafts a manifest from the services and people that other booking programs export. It reads the JSON
// of the REST API of Easy!Appointments, event types of the API of Cal.com, and CSV files. Such a file is an export of
// Square or a table of a spreadsheet. The owner completes the draft. The package does no I/O.
package foreign

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"

	"github.com/slotmesh/slotmesh/libs/values/fault"
)

// Service is a service of the other program.
type Service struct {
	Name    string
	Minutes int      // 0: the file does not have the duration
	Price   string   // decimal number; "": the file does not have the price
	Staff   []string // names of the people who offer it; none: all
}

// Offer is what the files have.
type Offer struct {
	Services []Service
	Staff    []string // names of people
	Currency string   // ISO 4217 code; "": the files do not have it
}

// Limits of an offer.
const (
	maxServices = 500
	maxStaff    = 200
)

// Read reads the files of an export. Each file is JSON or CSV. Fault: invalid_parameter.
func Read(files ...[]byte) (*Offer, error) {
	var parts parts
	for _, file := range files {
		file = bytes.TrimSpace(bytes.TrimPrefix(file, []byte{0xef, 0xbb, 0xbf}))
		var err error
		if len(file) > 0 && (file[0] == '{' || file[0] == '[') {
			err = parts.addJSON(file)
		} else {
			err = parts.addCSV(file)
		}
		if err != nil {
			return nil, err
		}
	}
	offer := parts.build()
	switch {
	case len(offer.Services) == 0:
		return nil, fault.New(fault.InvalidParameter, "The files have no services; export the services of the other "+
			"program as JSON, or write a CSV file with the columns name, duration and price.")
	case len(offer.Services) > maxServices || len(offer.Staff) > maxStaff:
		return nil, fault.Newf(fault.InvalidParameter, "The files have more than %d services or %d people.", maxServices,
			maxStaff)
	}
	return offer, nil
}

// object is a service, a provider or an event type in JSON. A field that a program does not have is zero.
type object struct {
	ID              json.Number   `json:"id"`
	Name            string        `json:"name"`      // service of Easy!Appointments
	Title           string        `json:"title"`     // event type of Cal.com
	FirstName       string        `json:"firstName"` // provider of Easy!Appointments
	LastName        string        `json:"lastName"`
	Duration        json.Number   `json:"duration"`        // minutes
	LengthInMinutes json.Number   `json:"lengthInMinutes"` // event type of Cal.com
	Price           json.Number   `json:"price"`
	Currency        string        `json:"currency"`
	Services        []json.Number `json:"services"` // ids of the services of a provider
	Users           []struct {
		Name string `json:"name"`
	} `json:"users"` // people of an event type
}

// parts collects the objects of all files, because one file may name services that another file has.
type parts struct {
	services, providers []object
	rows                []Service
}

// addJSON adds an array of objects, or an object that has such arrays, such as {"services": […], "providers": […]} or
// {"status": "success", "data": […]}.
func (p *parts) addJSON(file []byte) error {
	var list []json.RawMessage
	if file[0] == '{' {
		var named map[string]json.RawMessage
		if err := json.Unmarshal(file, &named); err != nil {
			return fault.New(fault.InvalidParameter, "A file is not well-formed JSON.")
		}
		for _, name := range []string{"services", "providers", "data", "eventTypes", "event_types"} {
			var some []json.RawMessage
			if json.Unmarshal(named[name], &some) == nil {
				list = append(list, some...)
			}
		}
	} else if err := json.Unmarshal(file, &list); err != nil {
		return fault.New(fault.InvalidParameter, "A file is not well-formed JSON.")
	}
	for _, raw := range list {
		var o object
		if err := json.Unmarshal(raw, &o); err != nil {
			return fault.New(fault.InvalidParameter, "A file has an entry that is no service and no person.")
		}
		switch {
		case o.Duration != "" && o.Name != "" || o.LengthInMinutes != "":
			p.services = append(p.services, o)
		case o.Services != nil && o.FirstName+o.LastName != "":
			p.providers = append(p.providers, o)
		}
	}
	return nil
}

// build joins services and people.
func (p *parts) build() *Offer {
	offer := &Offer{}
	for _, provider := range p.providers {
		offer.addStaff(strings.TrimSpace(provider.FirstName + " " + provider.LastName))
	}
	for _, o := range p.services {
		s := Service{Name: firstText(o.Name, o.Title), Minutes: readMinutes(string(o.Duration) + string(o.LengthInMinutes)),
			Price: readPrice(string(o.Price))}
		for _, provider := range p.providers {
			if slices.Contains(provider.Services, o.ID) {
				s.Staff = append(s.Staff, strings.TrimSpace(provider.FirstName+" "+provider.LastName))
			}
		}
		for _, user := range o.Users {
			s.Staff = append(s.Staff, user.Name)
			offer.addStaff(user.Name)
		}
		if offer.Currency == "" && isCurrency(o.Currency) {
			offer.Currency = strings.ToUpper(o.Currency)
		}
		offer.Services = append(offer.Services, s)
	}
	for _, s := range p.rows {
		for _, name := range s.Staff {
			offer.addStaff(name)
		}
		offer.Services = append(offer.Services, s)
	}
	return offer
}

func (o *Offer) addStaff(name string) {
	if name != "" && !slices.Contains(o.Staff, name) {
		o.Staff = append(o.Staff, name)
	}
}

func firstText(texts ...string) string {
	for _, text := range texts {
		if text = strings.TrimSpace(text); text != "" {
			return text
		}
	}
	return ""
}

// isCurrency reports whether a text has the form of an ISO 4217 code. Easy!Appointments has free text.
func isCurrency(text string) bool {
	return len(text) == 3 && strings.IndexFunc(text, func(r rune) bool { return r > unicode.MaxASCII || !unicode.IsLetter(r) }) < 0
}

// readMinutes reads a duration such as 45, 45 min, 1:30 or 1 h 30 min, in minutes. It returns 0 for another text.
func readMinutes(text string) int {
	text = strings.ToLower(text)
	numbers := strings.FieldsFunc(text, func(r rune) bool { return r < '0' || r > '9' })
	values := make([]int, len(numbers))
	for i, number := range numbers {
		values[i], _ = strconv.Atoi(number) // a number with too many digits is out of range below
	}
	minutes := 0
	switch isHours := strings.ContainsAny(text, ":h"); {
	case len(values) == 1 && isHours:
		minutes = values[0] * 60
	case len(values) == 1:
		minutes = values[0]
	case len(values) == 2 && isHours:
		minutes = values[0]*60 + values[1]
	}
	if minutes < 1 || minutes > 24*60 {
		return 0
	}
	return minutes
}

// readPrice reads a price such as 24.50, €24,50 or 24. It returns "" for another text.
func readPrice(text string) string {
	text = strings.Map(func(r rune) rune {
		switch {
		case '0' <= r && r <= '9', r == '.':
			return r
		case r == ',':
			return '.'
		}
		return -1
	}, text)
	if price, err := strconv.ParseFloat(text, 64); err != nil || price >= 1_000_000 {
		return ""
	}
	return text
}

// newKey returns a key of a manifest for a name. The argument `used` has the keys of the same list.
func newKey(name string, used map[string]bool) string {
	var b strings.Builder
	for _, r := range norm.NFKD.String(strings.ToLower(name)) {
		switch {
		case r <= unicode.MaxASCII && (unicode.IsLetter(r) || unicode.IsDigit(r)):
			b.WriteRune(r)
		case unicode.IsMark(r):
		default:
			b.WriteByte('-')
		}
	}
	key := strings.Join(strings.FieldsFunc(b.String(), func(r rune) bool { return r == '-' }), "-")
	if key == "" {
		key = "entry"
	}
	key = strings.Trim(key[:min(len(key), 50)], "-")
	unique := key
	for n := 2; used[unique]; n++ {
		unique = fmt.Sprintf("%s-%d", key, n)
	}
	used[unique] = true
	return unique
}
