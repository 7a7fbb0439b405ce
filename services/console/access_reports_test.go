package console_test

// init adds the routes of the reports page to rowOfPage.
func init() {
	for _, path := range []string{"", "/bookings.csv", "/revenue.csv", "/utilisation.csv"} {
		rowOfPage["GET /business/:slug/reports"+path] = "see tickets and reservations"
	}
}
