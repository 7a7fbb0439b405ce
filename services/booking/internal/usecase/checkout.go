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

// checkoutLasts is how much longer the provider's page lasts than the charge that it is for. Providers keep a page for
// at least half an hour from its creation, which may be at the last moment. The reconciliation closes the page earlier.
const checkoutLasts = 31 * time.Minute

// MaxExpiresAfter is the longest time that a customer may have to pay. Providers keep a page for at most a day.
const MaxExpiresAfter = 23 * time.Hour

// checkout returns the provider's page for a charge that expires at due. name is what the page shows as
// sold. From the page the customer returns to the customer view of the booking or order. The result depends
// on the arguments alone, so a retry makes the same page. It returns an error if PAGES_URL is not set.
func (b *Booker) checkout(kind event.SubjectKind, id uuid.UUID, linkHash []byte, name string, due time.Time) (*payment.Checkout, error) {
	manage := b.Links.URL(kind, id, linkHash)
	if manage == "" {
		return nil, errors.New("there are no customers' pages to come back to (PAGES_URL)")
	}
	return checkoutPage(manage, name, due), nil
}

// checkoutPage returns the provider's page from which the customer returns to the link manage.
func checkoutPage(manage, name string, due time.Time) *payment.Checkout {
	return &payment.Checkout{
		Name: shortened(name), SuccessURL: manage + "?payment=done", CancelURL: manage + "?payment=open",
		ExpiresAt: due.Add(checkoutLasts),
	}
}

// servicesOf returns the names of the booked services in one string, with the package's name if they were sold as one.
func servicesOf(services []store.SoldService) string {
	names := make([]string, len(services))
	for i, s := range services {
		names[i] = s.Name
	}
	return store.InPackage(services, strings.Join(names, ", "))
}

// shortened cuts a name to 200 characters, the most that providers accept.
func shortened(name string) string {
	const most = 200
	if text := []rune(name); len(text) > most {
		return string(text[:most]) + "…"
	}
	return name
}
