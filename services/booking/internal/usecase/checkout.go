package usecase

import (
	"errors"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/event"
	"github.com/slotmesh/slotmesh/services/booking/internal/payment"
	"github.com/slotmesh/slotmesh/services/booking/internal/store"
)

// checkoutLasts is how much longer the provider's page lasts than the charge that is paid on it: providers keep one for half an hour at
// least, counted from when it is made, which may be at the last moment. The reconciliation closes it before.
const checkoutLasts = 31 * time.Minute

// MaxExpiresAfter is the longest that a customer may have to pay: providers keep a page for a day at most.
const MaxExpiresAfter = 23 * time.Hour

// checkout is the provider's page for a charge that expires at due: from it, the customer comes to the page of what it is of, which has this
// name. What it holds follows from these alone, so that whoever makes it again makes the same.
func (b *Booker) checkout(kind event.SubjectKind, id uuid.UUID, linkHash []byte, name string, due time.Time) (*payment.Checkout, error) {
	manage := b.Links.URL(kind, id, linkHash)
	if manage == "" {
		return nil, errors.New("there are no customers' pages to come back to (PAGES_URL)")
	}
	return checkoutPage(manage, name, due), nil
}

// checkoutPage is the provider's page from which the customer comes to this link.
func checkoutPage(manage, name string, due time.Time) *payment.Checkout {
	return &payment.Checkout{
		Name: shortened(name), SuccessURL: manage + "?payment=done", CancelURL: manage + "?payment=open",
		ExpiresAt: due.Add(checkoutLasts),
	}
}

// servicesOf names what was booked.
func servicesOf(services []store.SoldService) string {
	names := make([]string, len(services))
	for i, s := range services {
		names[i] = s.Name
	}
	return store.InPackage(services, strings.Join(names, ", "))
}

// shortened keeps a name within what providers take.
func shortened(name string) string {
	const most = 200
	if text := []rune(name); len(text) > most {
		return string(text[:most]) + "…"
	}
	return name
}
