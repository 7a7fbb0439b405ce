package pages

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"github.com/gofiber/fiber/v2"

	"github.com/slotmesh/slotmesh/libs/contracts/booking"
	"github.com/slotmesh/slotmesh/libs/contracts/bookingclient"
	"github.com/slotmesh/slotmesh/libs/contracts/catalog"
	"github.com/slotmesh/slotmesh/libs/platform/request"
	"github.com/slotmesh/slotmesh/libs/platform/server"
	"github.com/slotmesh/slotmesh/services/console/internal/identity/authorize"
	"github.com/slotmesh/slotmesh/services/console/internal/pages/view"
	"github.com/slotmesh/slotmesh/services/console/internal/peers"
	"github.com/slotmesh/slotmesh/services/console/internal/reports/reportcsv"
	"github.com/slotmesh/slotmesh/services/console/internal/sales"
)

// bookingsPageSize is the number of bookings on one page of a list.
const bookingsPageSize = 50

// loadBookingList reads one page of the list of bookings. The query parameters of the request filter the list. Without
// query parameters, the list begins today.
func (p *Pages) loadBookingList(c *fiber.Ctx, page *view.Page) (view.BookingList, error) {
	l := view.BookingList{Query: readQuery(c), Today: page.Business.Today(page.Now).String()}
	l.Query.Del("lang")
	if l.Query.Get("back") == "today" || len(l.Query) == 0 || len(l.Query) == 1 && l.Query.Has("cursor") {
		l.Query.Set("from", l.Today)
	}
	filter, err := bookingclient.ReadFilter(func(name string) []string { return l.Query[name] })
	if err != nil {
		return l, err
	}
	cursor := l.Query.Get("cursor")
	found, err := p.rooms.Sales.ListBookings(c.UserContext(), authorize.Principal(c), page.Business.Slug, filter,
		request.Page{Limit: bookingsPageSize, Cursor: cursor})
	if err != nil {
		return l, err
	}
	l.Filter, l.Bookings, l.Next, l.IsPaged = filter, found.Bookings, found.NextCursor, cursor != ""
	page.Query = filter.Query
	return l, nil
}

func (p *Pages) listBookings(c *fiber.Ctx) error {
	page, err := p.newPage(c, view.PlaceBookings)
	if err != nil {
		return err
	}
	l, err := p.loadBookingList(c, page)
	if err != nil {
		return err
	}
	return p.render(c, fiber.StatusOK, page, view.Bookings(page, l))
}

// showBooking shows one booking, beside the list from which the person opened the booking.
func (p *Pages) showBooking(c *fiber.Ctx) error {
	page, id, err := p.newPageWithID(c, view.PlaceBookings)
	if err != nil {
		return err
	}
	var (
		l    view.BookingList
		open *sales.Details
	)
	err = peers.RunTogether(func() error {
		var err error
		l, err = p.loadBookingList(c, page)
		return err
	}, func() error {
		var err error
		open, err = p.rooms.Sales.LoadDetails(c.UserContext(), authorize.Principal(c), page.Business.Slug, id)
		return err
	})
	if err != nil {
		return err
	}
	l.Details = open
	return p.render(c, fiber.StatusOK, page, view.Bookings(page, l))
}

var bookingColumns = []string{
	"id", "status", "date", "start_time", "end_time", "services", "staff", "people", "total", "currency", "payment",
	"paid_online", "refunded",
	"customer_name", "customer_email", "customer_phone", "source", "created_at", "timezone",
}

// exportBookings sends bookings as a CSV file. The query parameters of the request filter the bookings.
func (p *Pages) exportBookings(c *fiber.Ctx) error {
	slug, err := server.Slug(c)
	if err != nil {
		return err
	}
	filter, err := bookingclient.ReadFilter(server.Query(c))
	if err != nil {
		return err
	}
	offer, err := p.rooms.FindBusiness(c.UserContext(), slug)
	if err != nil {
		return err
	}
	header := slices.Concat(bookingColumns, listPlaceColumns(offer), listAnswerColumns(offer))
	format := func(b booking.Booking) []string {
		return slices.Concat(formatBooking(b), formatPlace(offer, b), formatAnswers(offer, b.FormData))
	}
	return sendTable(c, "bookings-"+slug, header, format, func(take func([]booking.Booking)) error {
		return p.rooms.Sales.ExportBookings(c.UserContext(), authorize.Principal(c), slug, filter, take)
	})
}

// sendTable sends a list as a CSV file. The function `list` reads the entries page by page and calls its argument
// `take` with each page.
func sendTable[T any](c *fiber.Ctx, name string, columns []string, row func(T) []string,
	list func(take func([]T)) error) error {
	var out bytes.Buffer
	out.WriteString("\ufeff") // spreadsheets recognize UTF-8 by this byte order mark
	table := csv.NewWriter(&out)
	_ = table.Write(columns) // writing into memory never fails
	err := list(func(entries []T) {
		for _, each := range entries {
			_ = table.Write(row(each)) // writing into memory never fails
		}
	})
	if err != nil {
		return err
	}
	table.Flush()
	c.Set(fiber.HeaderCacheControl, "no-store")
	c.Attachment(name + ".csv")
	c.Set(fiber.HeaderContentType, reportcsv.MediaType+"; charset=utf-8")
	return c.Send(out.Bytes())
}

func formatBooking(b booking.Booking) []string {
	var services []string
	for _, s := range b.Services {
		services = append(services, s.Name)
	}
	payment, paid, refunded := formatPayment(b.Payment)
	return []string{
		b.ID.String(), b.Status, b.Date, strings.TrimSuffix(b.StartTime, ":00"), strings.TrimSuffix(b.EndTime, ":00"),
		reportcsv.EscapeFormula(strings.Join(services, " + ")), reportcsv.EscapeFormula(deref(b.StaffName)),
		strconv.Itoa(b.PartySize), b.Total.String(), b.Currency, payment, paid, refunded,
		reportcsv.EscapeFormula(b.CustomerName), reportcsv.EscapeFormula(b.CustomerEmail),
		reportcsv.EscapeFormula(deref(b.CustomerPhone)),
		reportcsv.EscapeFormula(b.Source), b.CreatedAt.Format("2006-01-02T15:04:05Z"), b.Timezone,
	}
}

// listPlaceColumns returns the names of the CSV columns for the place of a booking: the location if the business has
// several, and the address if the business comes to customers.
func listPlaceColumns(offer *catalog.Snapshot) []string {
	var names []string
	if len(offer.Locations) > 1 {
		names = append(names, "location")
	}
	if offer.ComesToCustomers() {
		names = append(names, "customer_address")
	}
	return names
}

// formatPlace returns the CSV cells with the place of a booking, in the order of [listPlaceColumns].
func formatPlace(offer *catalog.Snapshot, b booking.Booking) []string {
	var cells []string
	if len(offer.Locations) > 1 {
		name := offer.UnstoredLocation().Name.Text
		if b.Location != nil {
			name = b.Location.Name
		}
		cells = append(cells, reportcsv.EscapeFormula(name))
	}
	if offer.ComesToCustomers() {
		text := ""
		if a := b.CustomerAddress; a != nil {
			text = strings.Join(append(a.Lines(a.Country), a.Note), ", ")
			text = strings.TrimSuffix(text, ", ") // without a note
		}
		cells = append(cells, reportcsv.EscapeFormula(text))
	}
	return cells
}

// listAnswerColumns returns the names of the CSV columns for customers' answers. There is one column for each present
// question of the booking form, and one column for the answers to questions that were removed.
func listAnswerColumns(offer *catalog.Snapshot) []string {
	var names []string
	for _, q := range offer.Form {
		names = append(names, reportcsv.EscapeFormula(q.Label.Text))
	}
	return append(names, "other_answers")
}

// formatAnswers returns the CSV cells with a customer's answers, in the order of [listAnswerColumns]. The argument
// `formData` has the answers as JSON.
func formatAnswers(offer *catalog.Snapshot, formData json.RawMessage) []string {
	cells := make([]string, len(offer.Form)+1)
	var others []string
	for _, a := range offer.AnswersIn(formData) {
		text := a.Text(offer.DefaultLanguage, "true", "false")
		at := slices.IndexFunc(offer.Form, func(q catalog.Question) bool {
			return q.Key == a.Question.Key && q.Consent == a.Question.Consent
		})
		if at < 0 {
			others = append(others, a.Question.Key+": "+text)
			continue
		}
		cells[at] = reportcsv.EscapeFormula(text)
	}
	cells[len(offer.Form)] = reportcsv.EscapeFormula(strings.Join(others, "; "))
	return cells
}

// formatPayment returns three CSV cells of a payment: its status, the amount paid online, and the refunded amount. If
// there is no payment, the cells are empty.
func formatPayment(pay *booking.Payment) (string, string, string) {
	if pay == nil {
		return "", "", ""
	}
	paid := ""
	if pay.Status == booking.PaymentPaid {
		paid = pay.Amount.String()
	}
	return pay.Status, paid, pay.Refunded.String()
}

func deref(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}
