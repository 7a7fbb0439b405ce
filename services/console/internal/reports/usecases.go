// Package reports has the reports of bookings, revenue and the time of members. The services booking, rental and
// availability own the data. Package reportcsv writes reports for spreadsheets.
package reports

import "github.com/slotmesh/slotmesh/services/console/internal/peers"

// UseCases reads reports.
type UseCases struct{ *peers.Peers }
