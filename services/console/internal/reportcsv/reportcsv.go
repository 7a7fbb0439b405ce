// Package reportcsv writes reports as tables for spreadsheets: the fields of their rows below their names, comma and CRLF (RFC 4180), numbers
// with a point. The admin API and the owner's pages send the same.
package reportcsv

import (
	"bytes"
	"encoding/csv"
	"strconv"
	"strings"
	"unicode"

	"github.com/slotmesh/slotmesh/libs/peer/booking"
	"github.com/slotmesh/slotmesh/libs/report"
)

// MediaType is what a table is sent as.
const MediaType = "text/csv"

// Bookings writes a report about bookings.
func Bookings(rows []booking.BookingsRow) []byte {
	return table([]string{"date", "source", "bookings", "pending", "confirmed", "completed", "no_show", "cancelled", "guests"}, rows, func(r booking.BookingsRow) []string {
		return []string{
			r.Date.String(), Words(r.Source), count(r.Bookings), count(r.Pending), count(r.Confirmed), count(r.Completed), count(r.NoShow),
			count(r.Cancelled), count(r.Guests),
		}
	})
}

// Revenue writes a report about what was sold, paid and refunded.
func Revenue(rows []report.RevenueRow) []byte {
	return table([]string{"date", "kind", "currency", "sold", "total", "paid", "refunded"}, rows, func(r report.RevenueRow) []string {
		return []string{r.Date.String(), r.Kind, r.Currency, count(r.Sold), r.Total.String(), r.Paid.String(), r.Refunded.String()}
	})
}

// Utilisation writes a report about the time of members.
func Utilisation(rows []report.UtilisationRow) []byte {
	return table([]string{"date", "staff_id", "staff_name", "booked_minutes", "open_minutes", "utilisation"}, rows, func(r report.UtilisationRow) []string {
		share := ""
		if r.Utilisation != nil {
			share = strconv.FormatFloat(*r.Utilisation, 'f', 4, 64)
		}
		return []string{r.Date.String(), r.StaffID.String(), Words(r.StaffName), count(r.BookedMinutes), count(r.OpenMinutes), share}
	})
}

// Table writes cells below the names of their columns. Cells hold what people wrote, so that none is read as a formula.
func Table(columns []string, rows [][]string) []byte {
	return table(columns, rows, func(row []string) []string {
		cells := make([]string, len(row))
		for i, cell := range row {
			cells[i] = Words(cell)
		}
		return cells
	})
}

// table writes rows below the names of their columns.
func table[Row any](columns []string, rows []Row, cells func(Row) []string) []byte {
	var out bytes.Buffer
	w := csv.NewWriter(&out)
	w.UseCRLF = true
	_ = w.Write(columns) // into memory
	for _, row := range rows {
		_ = w.Write(cells(row)) // into memory
	}
	w.Flush()
	return out.Bytes()
}

// formulas are the characters that a formula begins with, and their full-width forms, which spreadsheets read as the same.
const formulas = "=+-@\uff1d\uff0b\uff0d\uff20"

// Words keeps a spreadsheet from reading what a person wrote as a formula. Some spreadsheets drop white space and invisible characters from
// the beginning of a cell, so those count as well, if a formula may follow.
func Words(text string) string {
	if strings.IndexAny(text, "\t\r\n") == 0 {
		return "'" + text
	}
	shown := strings.TrimLeftFunc(text, func(r rune) bool { return unicode.IsSpace(r) || unicode.In(r, unicode.C) })
	if strings.IndexAny(shown, formulas) == 0 {
		return "'" + text
	}
	return text
}

func count(n int64) string { return strconv.FormatInt(n, 10) }
