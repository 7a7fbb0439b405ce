package sales

import (
	"cmp"
	"encoding/json"
	"slices"

	"github.com/shopspring/decimal"

	"github.com/slotmesh/slotmesh/libs/contracts/booking"
	"github.com/slotmesh/slotmesh/libs/contracts/rental"
	"github.com/slotmesh/slotmesh/libs/values/money"
)

// Spending is the sum of a customer's purchases in one currency. A purchase counts by the same rules as in the revenue
// report (docs/decisions/014).
type Spending struct {
	Currency string
	Total    decimal.Decimal // sum of the prices of all purchases that are not cancelled, paid or not
	Paid     decimal.Decimal // amount paid online, minus refunds
}

// SumSpending returns the sums of a customer's purchases, one for each currency. A purchase without a price counts as
// 0.
func SumSpending(bookings []booking.Booking, tickets []booking.Ticket, reservations []rental.Reservation) []Spending {
	var all []Spending
	add := func(currency string, isCancelled bool, total *json.Number, paid *booking.Payment) {
		i := slices.IndexFunc(all, func(s Spending) bool { return s.Currency == currency })
		if i < 0 {
			i = len(all)
			all = append(all, Spending{Currency: currency})
		}
		if total != nil && !isCancelled {
			all[i].Total = all[i].Total.Add(money.Number(*total))
		}
		if paid != nil && paid.Status == booking.PaymentPaid {
			all[i].Paid = all[i].Paid.Add(money.Number(paid.Amount)).Sub(money.Number(paid.Refunded))
		}
	}
	for i := range bookings {
		add(bookings[i].Currency, bookings[i].Status == booking.StatusCancelled, &bookings[i].Total,
			bookings[i].Payment)
	}
	for i := range tickets {
		add(tickets[i].Currency, tickets[i].Status == booking.StatusCancelled, tickets[i].Total, tickets[i].Payment)
	}
	for i := range reservations {
		add(reservations[i].Currency, reservations[i].Status == rental.StatusCancelled, reservations[i].Total,
			reservations[i].Payment)
	}
	all = slices.DeleteFunc(all, func(s Spending) bool { return s.Total.IsZero() && s.Paid.IsZero() })
	slices.SortFunc(all, func(a, b Spending) int { return cmp.Compare(a.Currency, b.Currency) })
	return all
}
