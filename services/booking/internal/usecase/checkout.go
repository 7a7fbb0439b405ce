package usecase

import (
	"errors"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/contracts/event"
	"github.com/slotmesh/slotmesh/services/booking/internal/payment"
	"github.com/slotmesh/slotmesh/services/booking/internal/store"
)

// checkoutLasts is added to the expiry of a charge to give the expiry of the provider's
// page. Providers keep a page for at least half an hour after it was created, and it may
// be created just before the charge expires. The reconciliation closes the page earlier.
const checkoutLasts = 31 * time.Minute

// MaxExpiresAfter is the longest time for payment that a business can
// give to its customers. Providers keep a page for at most a day.
const MaxExpiresAfter = 23 * time.Hour

// checkout returns the data of the provider's page for a charge that expires at the
// instant due. The argument name is the name of the sold item on the page. From the
// page, the customer returns to the customer view of the booking or order.
//
// The result depends only on the arguments, so that a retry makes
// the same page. It returns an error if PAGES_URL is not set.
func (b *Booker) checkout(kind event.SubjectKind, id uuid.UUID, linkHash []byte, name string,
	due time.Time) (*payment.Checkout, error) {
	manage := b.Links.URL(kind, id, linkHash)
	if manage == "" {
		return nil, errors.New("there are no customers' pages to come back to (PAGES_URL)")
	}
	return checkoutPage(manage, name, due), nil
}

// checkoutPage returns the data of the provider's page. From the page,
// the customer returns to the link given by the argument manage.
func checkoutPage(manage, name string, due time.Time) *payment.Checkout {
	return &payment.Checkout{
		Name: shortened(name), SuccessURL: manage + "?payment=done", CancelURL: manage + "?payment=open",
		ExpiresAt: due.Add(checkoutLasts),
	}
}

// servicesOf returns the names of the booked services in one string. If
// they were sold as a package, the string contains the package's name.
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
