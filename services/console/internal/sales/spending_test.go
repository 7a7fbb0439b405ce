package sales_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/shopspring/decimal"

	"github.com/slotmesh/slotmesh/libs/contracts/booking"
	"github.com/slotmesh/slotmesh/libs/contracts/rental"
	"github.com/slotmesh/slotmesh/services/console/internal/sales"
)

// TestSumSpendingAddsAllSales shows that spending is summed by currency without cancelled sales, and that refunds
// reduce the paid amount.
func TestSumSpendingAddsAllSales(t *testing.T) {
	t.Parallel()
	ten, free := json.Number("10.10"), json.Number("0")
	paid := func(amount, refunded json.Number, status string) *booking.Payment {
		return &booking.Payment{Status: status, Amount: amount, Refunded: refunded}
	}
	got := sales.SumSpending([]booking.Booking{
		{Currency: "EUR", Status: booking.StatusCompleted, Total: "40.00"},
		{Currency: "EUR", Status: booking.StatusCancelled, Total: "25.00",
			Payment: paid("25.00", "20.00", booking.PaymentPaid)},
		{Currency: "EUR", Status: booking.StatusPending, Total: "30.00",
			Payment: paid("30.00", "0", booking.PaymentOpen)},
		{Currency: "CHF", Status: booking.StatusConfirmed, Total: free},
	}, []booking.Ticket{
		{Currency: "USD", Status: booking.StatusSold, Total: &ten, Payment: paid("10.10", "0", booking.PaymentPaid)},
		{Currency: "EUR", Status: booking.StatusSold}, // the owner agreed on a price: the order has no total
	}, []rental.Reservation{
		{Currency: "EUR", Status: rental.StatusReserved, Total: &ten}, {Currency: "EUR", Status: rental.StatusCancelled,
			Total: &ten},
	})
	want := []sales.Spending{
		{Currency: "EUR", Total: decimal.RequireFromString("80.10"), Paid: decimal.RequireFromString("5")},
		{Currency: "USD", Total: decimal.RequireFromString("10.10"), Paid: decimal.RequireFromString("10.10")},
	}
	if diff := cmp.Diff(want, got, cmp.Comparer(decimal.Decimal.Equal)); diff != "" {
		t.Error(diff)
	}
	if none := sales.SumSpending(nil, nil, nil); len(none) > 0 {
		t.Errorf("the spending without sales: %v", none)
	}
}
