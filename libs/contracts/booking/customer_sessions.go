package booking

import (
	"cmp"
	"time"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/values/fault"
)

// SignInLifetime is the time for which the mailed link of a customer's sign-in is valid.
const SignInLifetime = 30 * time.Minute

// SessionLifetime is the time for which a customer is signed in after the customer has used the mailed link.
const SessionLifetime = 24 * time.Hour

// MaxSignInLocale is the maximal length of NewSignIn.Locale, in bytes.
const MaxSignInLocale = 35

// NewSignIn requests a mailed link with which a customer signs in to the page with all own bookings at one business.
// Nothing in the response shows whether the business knows the address.
type NewSignIn struct {
	Email  string `json:"email"`
	Locale string `json:"locale"` // the language of the mail
}

// SignInID identifies a customer's sign-in.
type SignInID struct {
	ID uuid.UUID `json:"id"`
}

// SignIn is a customer's sign-in, for the service that sends the mail. After the link was
// used or has expired, the sign-in no longer exists for this service.
type SignIn struct {
	Email      string    `json:"email"` // canonical spelling of the address
	Locale     string    `json:"locale"`
	URL        string    `json:"url"` // the one-time link; "" if no link can be shown
	ExpiresAt  time.Time `json:"expires_at"`
	IsCustomer bool      `json:"is_customer"` // reports that a booking or an order of tickets has the address
}

// RedeemSignIn uses the token of a mailed link. A token can be used only once.
type RedeemSignIn struct {
	Token string `json:"token"`
}

// NewSession is the session of a customer who has just signed in. Only this response contains the secret.
type NewSession struct {
	Secret    string    `json:"secret"`
	ExpiresAt time.Time `json:"expires_at"`
}

// SessionSecret identifies a customer's session by its secret.
type SessionSecret struct {
	Secret string `json:"secret"`
}

// SessionCustomer is the customer of a session.
type SessionCustomer struct {
	Email string `json:"email"` // canonical spelling of the address
}

// CustomerSalesRequest requests one page of the bookings and orders, or of the reservations, of a session's customer.
//
// Upcoming sales are neither cancelled nor over, and are listed from the next to the last. All other sales are past;
// they are listed from the latest to the earliest. After is the position of the last sale on the page before.
type CustomerSalesRequest struct {
	Secret string        `json:"secret"`
	IsPast bool          `json:"is_past"`
	After  *SalePosition `json:"after,omitempty"`
	Limit  int           `json:"limit"` // 1 to MaxSales
}

// MaxSales is the maximal number of sales on one page. It is one more than
// the pages show. The additional sale shows that there are more sales.
const MaxSales = 21

// Validate validates the request. Fault: invalid_parameter.
func (r *CustomerSalesRequest) Validate() error {
	if r.Limit < 1 || r.Limit > MaxSales {
		return fault.Newf(fault.InvalidParameter, "limit: send a whole number from 1 to %d.", MaxSales)
	}
	return nil
}

// SalePosition is the position of a sale in the order by start. The id makes the order unambiguous.
type SalePosition struct {
	StartsAt time.Time `json:"starts_at"`
	ID       uuid.UUID `json:"id"`
}

// Compare compares two positions in ascending order.
func (p SalePosition) Compare(other SalePosition) int {
	return cmp.Or(p.StartsAt.Compare(other.StartsAt), cmp.Compare(p.ID.String(), other.ID.String()))
}

// CustomerSale is a booking or an order on the page with all bookings of a customer.
type CustomerSale struct {
	Position SalePosition `json:"position"`
	Token    string       `json:"token"` // token of the customer's link; "" if the link has expired
	CustomerView
}

// CustomerSales is one page of bookings and orders.
type CustomerSales struct {
	Sales []CustomerSale `json:"sales"`
}
