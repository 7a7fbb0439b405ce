package console_test

import "strings"

// init adds the routes of the offer pages to rowOfPage.
func init() {
	routes := []string{"GET ", "POST /undo", "GET /versions", "GET /versions/:id", "POST /versions/:id",
		"POST /services-order", "POST /classes-order", "POST /rentals-order", "POST /team-order", "POST /locations-order",
		"POST /packages-order"}
	for _, kind := range []string{"services", "classes", "events", "rentals", "team", "rules", "locations", "packages"} {
		routes = append(routes, "GET /"+kind)
		for _, page := range []string{"/new", "/:id", "/:id/remove"} {
			routes = append(routes, "GET /"+kind+page, "POST /"+kind+page)
		}
	}
	for _, part := range []string{"hours", "translations", "business", "policies", "payments", "page",
		"languages", "privacy"} {
		routes = append(routes, "GET /"+part, "POST /"+part)
	}
	for _, method := range []string{"GET", "POST"} {
		rowOfPage[method+" /business/:slug/offer/notifications"] = "keys, webhooks, calendars"
	}
	for _, route := range routes {
		method, path, _ := strings.Cut(route, " ")
		rowOfPage[method+" /business/:slug/offer"+path] = "change all of the offer"
	}
}
