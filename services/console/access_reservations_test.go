package console_test

import "maps"

// init adds the routes of cancellation previews and of refunds of reservations to rowOfRoute and rowOfPage.
func init() {
	maps.Copy(rowOfRoute, map[string]string{
		"GET /admin/businesses/:slug/reservations/:id/cancellation": "book, move, cancel, sell",
		"POST /admin/businesses/:slug/reservations/:id/refund":      "refund, export",
	})
	maps.Copy(rowOfPage, map[string]string{
		"GET /business/:slug/reservations/:id/refund":  "refund, export",
		"POST /business/:slug/reservations/:id/refund": "refund, export",
	})
}
