// Package reportcsv writes reports as CSV for spreadsheets (RFC 4180). A file begins with a header line, which has the
// names of the fields. Commas separate the cells, lines end with CRLF, and numbers have a decimal point. Both the admin
// API and the owner's pages use this package.
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

// FormatBookings returns the CSV file of a report about bookings, which is grouped by the argument `by`.
func FormatBookings(by report.By, rows []booking.BookingsRow) []byte {
	return formatGrouped(by, []string{"date", "source", "bookings", "pending", "confirmed", "completed", "no_show",
		"cancelled",
		"guests"}, rows, func(r booking.BookingsRow) report.Group { return r.Group }, func(r booking.BookingsRow) []string {
		return []string{
			r.Date.String(), EscapeFormula(r.Source), formatCount(r.Bookings), formatCount(r.Pending),
			formatCount(r.Confirmed),
			formatCount(r.Completed), formatCount(r.NoShow),
			formatCount(r.Cancelled), formatCount(r.Guests),
		}
	})
}

// FormatRevenue returns the CSV file of a report about revenue: the prices of sold objects, payments and refunds.
// The argument `by` is the grouping of the report.
func FormatRevenue(by report.By, rows []report.RevenueRow) []byte {
	return formatGrouped(by, []string{"date", "kind", "currency", "sold", "total", "paid", "refunded"}, rows,
		func(r report.RevenueRow) report.Group { return r.Group },
		func(r report.RevenueRow) []string {
			return []string{r.Date.String(), r.Kind, r.Currency, formatCount(r.Sold), r.Total.String(), r.Paid.String(),
				r.Refunded.String()}
		})
}

// FormatUtilisation returns the CSV file of a report about the booked time and the working time of members.
// The columns are the same for each grouping.
func FormatUtilisation(_ report.By, rows []report.UtilisationRow) []byte {
	return formatTable([]string{"date", "staff_id", "staff_name", "booked_minutes", "open_minutes", "utilisation"},
		rows,
		func(r report.UtilisationRow) []string {
			share := ""
			if r.Utilisation != nil {
				share = strconv.FormatFloat(*r.Utilisation, 'f', 4, 64)
			}
			return []string{r.Date.String(), r.StaffID.String(), EscapeFormula(r.StaffName),
				formatCount(r.BookedMinutes),
				formatCount(r.OpenMinutes), share}
		})
}

// formatGrouped returns a CSV file. The function `cells` returns the cells of a row. In a report that is not by time,
// formatGrouped adds the columns with the group of each row.
func formatGrouped[Row any](by report.By, columns []string, rows []Row, group func(Row) report.Group,
	cells func(Row) []string) []byte {
	switch {
	case by.IsTime():
		return formatTable(columns, rows, cells)
	case by == report.CustomerKind:
		return formatTable(append(columns, string(by)), rows, func(r Row) []string {
			return append(cells(r), group(r).CustomerKind)
		})
	}
	return formatTable(append(columns, string(by)+"_id", string(by)+"_name"), rows, func(r Row) []string {
		g, id := group(r), ""
		if g.ID() != nil {
			id = g.ID().String()
		}
		return append(cells(r), id, EscapeFormula(g.Name()))
	})
}

// FormatTable returns a CSV file whose header line has the names of the columns. It converts each cell by
// [EscapeFormula], because cells can contain texts that customers typed.
func FormatTable(columns []string, rows [][]string) []byte {
	return formatTable(columns, rows, func(row []string) []string {
		cells := make([]string, len(row))
		for i, cell := range row {
			cells[i] = EscapeFormula(cell)
		}
		return cells
	})
}

// formatTable returns a CSV file. The function `cells` returns the cells of a row.
func formatTable[Row any](columns []string, rows []Row, cells func(Row) []string) []byte {
	var out bytes.Buffer
	w := csv.NewWriter(&out)
	w.UseCRLF = true
	_ = w.Write(columns) // a write to memory never fails
	for _, row := range rows {
		_ = w.Write(cells(row)) // a write to memory never fails
	}
	w.Flush()
	return out.Bytes()
}

// formulas are the characters with which a spreadsheet's formula can begin, and the full-width forms of these
// characters.
const formulas = "=+-@\uff1d\uff0b\uff0d\uff20"

// EscapeFormula returns a text that no spreadsheet reads as a formula. If a spreadsheet could read `text` as a formula,
// EscapeFormula puts an apostrophe before the text. Some spreadsheets ignore white space and invisible characters at
// the beginning of a cell. So EscapeFormula also changes a text if a formula follows such characters.
func EscapeFormula(text string) string {
	if strings.IndexAny(text, "\t\r\n") == 0 {
		return "'" + text
	}
	value := strings.TrimLeftFunc(text, func(r rune) bool { return unicode.IsSpace(r) || unicode.In(r, unicode.C) })
	if strings.IndexAny(value, formulas) == 0 {
		return "'" + text
	}
	return text
}

func formatCount(n int64) string { return strconv.FormatInt(n, 10) }
