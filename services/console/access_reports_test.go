package console_test

// The rows of the page of reports.
func init() {
	for _, path := range []string{"", "/bookings.csv", "/revenue.csv", "/utilisation.csv"} {
		rowOfPage["GET /business/:slug/reports"+path] = "see tickets and reservations"
	}
}
