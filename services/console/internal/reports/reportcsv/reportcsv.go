// Package reportcsv writes reports as CSV for spreadsheets (RFC 4180): a header line with the names of the fields,
// cells separated by commas, lines that end with CRLF, and a decimal point. The admin API and the owner's pages both
// use it.
package reportcsv

import (
	"bytes"
	"encoding/csv"
	"strconv"
	"strings"
	"unicode"

	"github.com/slotmesh/slotmesh/libs/contracts/booking"
	"github.com/slotmesh/slotmesh/libs/values/report"
)

// MediaType is the media type of the CSV files.
const MediaType = "text/csv"

// Bookings writes a report about bookings.
func Bookings(rows []booking.BookingsRow) []byte {
	return table([]string{"date", "source", "bookings", "pending", "confirmed", "completed", "no_show", "cancelled",
		"guests"}, rows, func(r booking.BookingsRow) []string {
		return []string{
			r.Date.String(), Words(r.Source), count(r.Bookings), count(r.Pending), count(r.Confirmed),
			count(r.Completed), count(r.NoShow),
			count(r.Cancelled), count(r.Guests),
		}
	})
}

// Revenue writes a report about what was sold, paid and refunded.
func Revenue(rows []report.RevenueRow) []byte {
	return table([]string{"date", "kind", "currency", "sold", "total", "paid", "refunded"}, rows,
		func(r report.RevenueRow) []string {
			return []string{r.Date.String(), r.Kind, r.Currency, count(r.Sold), r.Total.String(), r.Paid.String(),
				r.Refunded.String()}
		})
}

// Utilisation writes a report about the time of members.
func Utilisation(rows []report.UtilisationRow) []byte {
	return table([]string{"date", "staff_id", "staff_name", "booked_minutes", "open_minutes", "utilisation"}, rows,
		func(r report.UtilisationRow) []string {
			share := ""
			if r.Utilisation != nil {
				share = strconv.FormatFloat(*r.Utilisation, 'f', 4, 64)
			}
			return []string{r.Date.String(), r.StaffID.String(), Words(r.StaffName), count(r.BookedMinutes),
				count(r.OpenMinutes), share}
		})
}

// Table returns a CSV file with a header line of columns and these rows. The cells may contain texts that people typed,
// so it protects each cell by [Words].
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

// formulas are the characters with which a formula in a spreadsheet can begin, and their full-width forms.
const formulas = "=+-@\uff1d\uff0b\uff0d\uff20"

// Words changes a text so that no spreadsheet reads it as a formula. Some spreadsheets ignore white space and invisible
// characters at the beginning of a cell. So Words also changes a text that begins with these, if a formula may follow.
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
