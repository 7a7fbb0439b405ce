package consoletest

import (
	"net/http"
	"strconv"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/contracts/actor"
)

// cutPage returns one page of a list, and the cursor of the next page. The request's parameters `cursor` and `limit`
// select the page. A page has at most three entries, so that console must read several pages in tests. The cursor of a
// page is the index of its first entry in the list.
func cutPage[T any](r *http.Request, all []T) ([]T, string) {
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

// findCreator returns the id of the person or token that console names as the actor of a request. It returns nil if the
// request has no such id.
func findCreator(r *http.Request) *uuid.UUID {
	by, err := actor.Parse(r.Header.Get(actor.Header))
	if err != nil {
		return nil
	}
	return by.Maker()
}
