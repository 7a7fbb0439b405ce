package letter

import (
	"strconv"

	"github.com/a-h/templ"
	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/sale/reference"
)

// MaxCodes is the maximum number of QR codes in a message. A message about more tickets has none; its button leads to
// the page with all codes.
const MaxCodes = 50

// code is the QR code of one ticket.
type code struct {
	Source  templ.SafeURL // the part of the mail that has the picture
	Caption string        // the price tier and the reference of the ticket
	Alt     string
}

// CodeID returns the Content-ID of the picture with the QR code of a ticket. The argument `n` is the number of the
// ticket in the order, from 1.
func CodeID(n int) string { return "ticket-" + strconv.Itoa(n) + "@slotmesh" }

// CodeSource returns the URL by which the HTML of a message shows the QR code of a ticket.
func CodeSource(n int) string { return "cid:" + CodeID(n) }

// addCodes adds a QR code for each ticket.
func (p *page) addCodes(w *words, f *Facts) {
	order, err := uuid.Parse(f.Subject.ID)
	if err != nil {
		return
	}
	for i, tier := range f.Subject.Tickets {
		short := w.isolateLTR(reference.OfTicket(order, i+1))
		caption := short
		if tier = w.sanitize(tier, maxName); tier != "" {
			caption = tier + " · " + short
		}
		p.Codes = append(p.Codes, code{Source: templ.SafeURL(CodeSource(i + 1)), Caption: caption, Alt: "QR " + short})
	}
}
