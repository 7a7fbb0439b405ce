package view

import (
	"image/color"
	"strconv"
	"strings"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/contracts/booking"
	"github.com/slotmesh/slotmesh/libs/sale/reference"
)

// ticketCode is the code of one ticket of an order.
type ticketCode struct {
	tier   string
	label  string // the number of the ticket with the short reference of the order, for people
	box    string // the view box of the SVG
	ground string // the white square below the QR code as the path of the SVG
	square string // the QR code as the path of the SVG
}

// ticketCodes returns the codes of all tickets of an order. It returns nil if the tickets are not valid now.
func ticketCodes(t *booking.CustomerTicket) []ticketCode {
	if t.Status == booking.StatusPending || t.Status == booking.StatusCancelled || t.CanPay {
		return nil
	}
	var codes []ticketCode
	for _, tier := range t.Tiers {
		for range tier.Quantity {
			n := len(codes) + 1
			square, size := drawQR(t.ID, n)
			width := strconv.Itoa(size)
			codes = append(codes, ticketCode{tier.TierName, reference.OfTicket(t.ID, n), "0 0 " + width + " " + width,
				"M0 0h" + width + "v" + width + "H0z", square})
		}
	}
	return codes
}

// drawQR returns the QR code of a ticket as the path of an SVG, and the width of the SVG. Each row of adjacent dark
// modules is one rectangle of the path.
func drawQR(order uuid.UUID, n int) (string, int) {
	code, err := reference.TicketCode(order, n)
	if err != nil {
		return "", 0 // cannot happen, because the text is short
	}
	var path strings.Builder
	size := code.Bounds().Dx()
	isDark := func(x, y int) bool { return x < size && code.At(x, y) == color.Black }
	for y := range size {
		for x := 0; x < size; x++ {
			if !isDark(x, y) {
				continue
			}
			from := x
			for isDark(x, y) {
				x++
			}
			width := strconv.Itoa(x - from)
			path.WriteString("M" + strconv.Itoa(from+reference.QuietZone) + " " + strconv.Itoa(y+reference.QuietZone) + "h" + width +
				"v1h-" + width + "z")
		}
	}
	return path.String(), size + 2*reference.QuietZone
}
