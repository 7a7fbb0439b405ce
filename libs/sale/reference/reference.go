// Package reference returns short forms of the ids of bookings, orders of tickets and reservations: for people, and for
// scanners at the door. The package is pure.
package reference

import (
	"image"
	"strconv"
	"strings"

	"github.com/boombuler/barcode/qr"
	"github.com/google/uuid"
)

// Of returns a short form of an id, which customers can read out on the telephone, such as 01A2-1C6F.
func Of(id uuid.UUID) string {
	text := strings.ToUpper(id.String())
	return text[:4] + "-" + text[4:8]
}

// OfTicket returns the short form of the id of one ticket. The argument `n` is the number of the ticket in the order,
// from 1.
func OfTicket(order uuid.UUID, n int) string { return Of(order) + "/" + strconv.Itoa(n) }

// QuietZone is the width of the empty border that scanners need around a QR code, in modules.
const QuietZone = 4

// TicketCode returns the QR code of one ticket, without a quiet zone. Each pixel is a module, black or white. The
// content is the id of the order and the number of the ticket, such as 01a21c6f-eeca-7d6c-9518-1aabe0d800fc/2.
func TicketCode(order uuid.UUID, n int) (image.Image, error) {
	return qr.Encode(order.String()+"/"+strconv.Itoa(n), qr.M, qr.Unicode)
}
