// Package reports has the reports about a business's bookings, its revenue and the time of its members. The booking,
// rental and availability services own the data. Package reportcsv writes the reports for spreadsheets.
package reports

import "github.com/slotmesh/slotmesh/services/console/internal/peers"

// UseCases reads the reports of businesses.
type UseCases struct{ *peers.Peers }
