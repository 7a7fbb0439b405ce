package api

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/slotmesh/slotmesh/libs/peer/rental"
	"github.com/slotmesh/slotmesh/libs/timespan"
)

// Lists page by 100 entries, at most by 1000 (admin.md).
const (
	defaultLimit = 100
	maxLimit     = 1000
)

func parseList(get values) (rental.Filter, int, error) {
	var filter rental.Filter
	var err error
	if filter.From, err = optionalDate(get, "from"); err != nil {
		return filter, 0, err
	}
	if filter.To, err = optionalDate(get, "to"); err != nil {
		return filter, 0, err
	}
	if filter.From != nil && filter.To != nil && *filter.To < *filter.From {
		return filter, 0, invalid("to: lies before from; write a date on or after it.")
	}
	limit, err := parseLimit(get)
	return filter, limit, err
}

func optionalDate(get values, name string) (*timespan.Date, error) {
	s, err := single(get, name)
	if err != nil || s == "" {
		return nil, err
	}
	d, err := timespan.ParseDate(s)
	if err != nil {
		return nil, invalid("%s: %s.", name, err)
	}
	return &d, nil
}

func parseLimit(get values) (int, error) {
	s, err := single(get, "limit")
	if err != nil || s == "" {
		return defaultLimit, err
	}
	limit, err := strconv.Atoi(s)
	if err != nil || limit < 1 || limit > maxLimit {
		return 0, invalid("limit: write a whole number from 1 to %d.", maxLimit)
	}
	return limit, nil
}

const maxName = 200

func parseName(get values) (string, error) {
	name, err := single(get, "customer_name")
	if err != nil {
		return "", err
	}
	name = strings.TrimSpace(name)
	if name == "" || utf8.RuneCountInString(name) > maxName || strings.ContainsFunc(name, unicode.IsControl) {
		return "", invalid("customer_name: write 1 to %d characters on one line.", maxName)
	}
	return name, nil
}
