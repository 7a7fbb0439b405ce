package consoletest

import (
	"net/http"
	"strconv"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/actor"
)

// page cuts what a request asks for out of a list; its cursors are positions, and pages hold at most three entries, so
// that tests have to follow them.
func page[T any](r *http.Request, all []T) ([]T, string) {
	from, _ := strconv.Atoi(r.URL.Query().Get("cursor"))
	limit, err := strconv.Atoi(r.URL.Query().Get("limit"))
	if err != nil || limit > 3 {
		limit = 3
	}
	to := min(from+limit, len(all))
	if to == len(all) {
		return append([]T{}, all[from:]...), ""
	}
	return all[from:to], strconv.Itoa(to)
}

// makerOf is the person or token that a request of console names as its actor.
func makerOf(r *http.Request) *uuid.UUID {
	by, err := actor.Parse(r.Header.Get(actor.Header))
	if err != nil {
		return nil
	}
	return by.Maker()
}
