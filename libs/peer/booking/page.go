package booking

import (
	"net/url"
	"strconv"

	"github.com/slotmesh/slotmesh/libs/timespan"
)

// Page names a part of a list: at most Limit entries (0: the default of 100; at most 1000) after Cursor, which is ""
// for the first page and a list's NextCursor for the following ones.
type Page struct {
	Limit  int
	Cursor string
}

// Query writes the page as the query of a request.
func (p Page) Query() url.Values {
	query := url.Values{}
	if p.Limit != 0 {
		query.Set("limit", strconv.Itoa(p.Limit))
	}
	if p.Cursor != "" {
		query.Set("cursor", p.Cursor)
	}
	return query
}

// Filter narrows a list of bookings. From and To are dates of the start in business time, both included; Status is
// one of the Status… values. What is left out narrows nothing.
type Filter struct {
	From, To *timespan.Date
	Status   string
}
