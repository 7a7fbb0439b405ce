package console_test

import "maps"

// init adds the routes of the customer pages to rowOfPage.
func init() {
	maps.Copy(rowOfPage, map[string]string{
		"GET /business/:slug/customers":        "see customers",
		"POST /business/:slug/customers":       "see customers",
		"GET /business/:slug/customers/one":    "see customers",
		"GET /business/:slug/customers/export": "refund, export",
		"POST /business/:slug/customers/erase": "erase customers, the business",
	})
}
