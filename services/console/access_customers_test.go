package console_test

import "maps"

// init adds the routes about records of customers to rowOfRoute, and those of the customer pages to rowOfPage.
func init() {
	maps.Copy(rowOfRoute, map[string]string{
		"GET /admin/businesses/:slug/customers/one":               "see customers",
		"POST /admin/businesses/:slug/customers/change":           "write about customers",
		"POST /admin/businesses/:slug/customers/merge":            "write about customers",
		"POST /admin/businesses/:slug/customers/separate":         "write about customers",
		"POST /admin/businesses/:slug/customers/import":           "import customers",
		"GET /admin/businesses/:slug/customers/imports":           "import customers",
		"POST /admin/businesses/:slug/customers/imports/:id/undo": "import customers",
	})
	maps.Copy(rowOfPage, map[string]string{
		"GET /business/:slug/customers":                   "see customers",
		"POST /business/:slug/customers":                  "see customers",
		"GET /business/:slug/customers/one":               "see customers",
		"GET /business/:slug/customers/export":            "refund, export",
		"POST /business/:slug/customers/erase":            "erase customers, the business",
		"POST /business/:slug/customers/change":           "write about customers",
		"POST /business/:slug/customers/merge":            "write about customers",
		"POST /business/:slug/bookings/new/customer":      "book, move, cancel, sell",
		"POST /business/:slug/customers/separate":         "write about customers",
		"GET /business/:slug/customers/import":            "import customers",
		"POST /business/:slug/customers/import":           "import customers",
		"POST /business/:slug/customers/imports/:id/undo": "import customers",
	})
}
