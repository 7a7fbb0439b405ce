package tools

import (
	"bytes"
	"encoding/json"
	"maps"
	"math"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/platform/request"
)

// arguments contains the arguments of a tool call by name. An argument with the value null counts as left out.
type arguments map[string]json.RawMessage

// parse parses the arguments of a call. It refuses an argument that
// the tool does not have, so that a misspelt name is not ignored.
func (t *tool) parse(raw json.RawMessage) (arguments, error) {
	args := arguments{}
	if len(bytes.TrimSpace(raw)) > 0 {
		if err := json.Unmarshal(raw, &args); err != nil {
			return nil, request.Invalid("The arguments are not a JSON object.")
		}
	}
	isKnown := t.InputSchema.(*jsonschema.Schema).Properties
	for _, name := range slices.Sorted(maps.Keys(args)) {
		if isKnown[name] == nil {
			return nil, request.Invalid("%s: %s has no such argument; it takes %s.", request.Quote(name), t.Name,
				joinNames(isKnown))
		}
		if string(bytes.TrimSpace(args[name])) == "null" {
			delete(args, name)
			continue
		}
		if isKnown[name].Type == "integer" {
			args[name] = normalizeWhole(args[name])
		}
	}
	return args, nil
}

// normalizeWhole rewrites a whole number with a decimal point or an exponent, such as 1.0, to plain digits. Some
// clients write every number with a point, because JSON has only one number type. normalizeWhole returns any other
// value unchanged.
func normalizeWhole(raw json.RawMessage) json.RawMessage {
	const maxLength = 1 << 53 // float64 represents whole numbers exactly up to this one
	n, err := strconv.ParseFloat(string(bytes.TrimSpace(raw)), 64)
	if err != nil || n != math.Trunc(n) || math.Abs(n) > maxLength || !json.Valid(raw) {
		return raw
	}
	return strconv.AppendInt(nil, int64(n), 10)
}

func joinNames(known map[string]*jsonschema.Schema) string {
	if len(known) == 0 {
		return "none"
	}
	return strings.Join(slices.Sorted(maps.Keys(known)), ", ")
}

// text reads a string. It returns "" if the argument is left out.
func (a arguments) text(name string) (string, error) {
	var s string
	if raw, ok := a[name]; ok && json.Unmarshal(raw, &s) != nil {
		return "", request.Invalid("%s: send a string.", name)
	}
	if strings.ContainsRune(s, 0) {
		return "", request.Invalid("%s: send text without NUL characters.", name)
	}
	return s, nil
}

// date reads a calendar date and returns its text unchanged. It returns "" if the argument is left out.
func (a arguments) date(name string) (string, error) { return readChecked(a, name, request.Date) }

// sources contains, for each argument with ids, a text that names the tool from which the ids come.
var sources = map[string]string{
	"service_id": "the id of a service from list_services", "service_ids": "the ids of services from list_services",
	"staff_id":          "the id of a member from list_staff",
	"location_id":       "the id of a location from get_business_info",
	"class_schedule_id": "the class_schedule_id of a start from find_slots",
}

// identifier parses a UUID. If it is invalid, the error names the tool that
// returns valid ids, because models often send a name instead of an id.
func identifier(name, s string) (uuid.UUID, error) {
	id, err := request.ID(name, s)
	if err != nil {
		return id, request.Invalid("%s: %s is no id; take %s.", name, request.Quote(s), sources[name])
	}
	return id, nil
}

// id reads a UUID and returns its text unchanged. It returns "" if the argument is left out.
func (a arguments) id(name string) (string, error) { return readChecked(a, name, identifier) }

// readChecked reads a string and returns it if the function `read` accepts it. It returns "" if the argument is left
// out.
func readChecked[T any](a arguments, name string, read func(name, s string) (T, error)) (string, error) {
	s, err := a.text(name)
	if _, hasValue := a[name]; err != nil || !hasValue {
		return "", err
	}
	_, err = read(name, s)
	return s, err
}

// ids reads a list of UUIDs. The list must contain at least one UUID, and not more than `maxIDs`.
func (a arguments) ids(name string, maxIDs int) ([]string, error) {
	raw, hasValue := a[name]
	var list []string
	if hasValue && json.Unmarshal(raw, &list) != nil {
		return nil, request.Invalid("%s: send a list of ids, such as [\"6f1c2a34-5b6d-4e7f-8a9b-0c1d2e3f4a5b\"]; "+
			"take %s.", name, sources[name])
	}
	if len(list) == 0 || len(list) > maxIDs {
		return nil, request.Invalid("%s: send 1 to %d ids; take %s.", name, maxIDs, sources[name])
	}
	for _, s := range list {
		if _, err := identifier(name, s); err != nil {
			return nil, err
		}
	}
	return list, nil
}

// copyArgument reads a tool argument with the function `read`, and sets its value as the query parameter `parameter`.
// The argument `name` is the name of the tool argument. If the tool argument is left out, copyArgument sets nothing.
func copyArgument(query url.Values, parameter string, read func(name string) (string, error), name string) error {
	value, err := read(name)
	if err == nil && value != "" {
		query.Set(parameter, value)
	}
	return err
}

// offset reads the index of the first element of a page. It returns 0 if the argument is left out.
func (a arguments) offset() (int, error) {
	var n int
	if raw, ok := a["offset"]; ok && json.Unmarshal(raw, &n) != nil || n < 0 {
		return 0, request.Invalid("offset: send a whole number from 0 on: the next_offset of the page before.")
	}
	return n, nil
}
