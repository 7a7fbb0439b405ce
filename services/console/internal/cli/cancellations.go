package cli

import (
	"fmt"
	"net/http"
	"time"

	"github.com/spf13/cobra"

	"github.com/slotmesh/slotmesh/libs/peer/booking"
)

func (c *command) cancelBooking() *cobra.Command {
	var amount string
	cmd := c.ofBusiness("cancel SLUG ID", "Cancel a booking; its time is free again, and what was paid online is refunded", 2,
		func(cmd *cobra.Command, args []string, client *client) error {
			wanted, err := refundFlag(amount)
			if err != nil {
				return err
			}
			return c.refunded(cmd, client, at(args[0], "bookings", args[1], "cancel"), booking.Cancel{Refund: wanted})
		})
	cmd.Flags().StringVar(&amount, "refund", string(booking.RefundPolicy), "how much of what was paid online: policy, full, none or an amount")
	cmd.Example = `  slotmesh bookings cancel harbor 7d9f3c1e-6a1b-4a55-9c1d-2f0a8f6f3b11
  slotmesh bookings cancel harbor 7d9f3c1e-6a1b-4a55-9c1d-2f0a8f6f3b11 --refund full
  slotmesh bookings cancel harbor 7d9f3c1e-6a1b-4a55-9c1d-2f0a8f6f3b11 --refund 12.50`
	mustComplete(cmd, "refund", string(booking.RefundPolicy), string(booking.RefundFull), string(booking.RefundNone))
	return cmd
}

func (c *command) refundBooking() *cobra.Command {
	var amount string
	cmd := c.ofBusiness("refund SLUG ID", "Refund a booking that is over, or try a refused refund again", 2,
		func(cmd *cobra.Command, args []string, client *client) error {
			wanted, err := refundFlag(amount)
			if err != nil {
				return err
			}
			return c.refunded(cmd, client, at(args[0], "bookings", args[1], "refund"), booking.NewRefund{Refund: wanted})
		})
	cmd.Flags().StringVar(&amount, "amount", string(booking.RefundFull), "how much of what was paid online: full, which is all that is left, or an amount")
	cmd.Example = `  slotmesh bookings refund harbor 7d9f3c1e-6a1b-4a55-9c1d-2f0a8f6f3b11
  slotmesh bookings refund harbor 7d9f3c1e-6a1b-4a55-9c1d-2f0a8f6f3b11 --amount 12.50`
	mustComplete(cmd, "amount", string(booking.RefundFull))
	return cmd
}

func refundFlag(text string) (booking.RefundAmount, error) {
	wanted, err := booking.ParseRefund(text)
	if err != nil {
		return "", fmt.Errorf("%s: write policy, full, none or an amount such as 12.50", text)
	}
	return wanted, nil
}

// refunded sends what may refund a booking, and shows the booking with its refund.
func (c *command) refunded(cmd *cobra.Command, client *client, path string, body any) error {
	var b booking.Booking
	if err := client.call(cmd.Context(), http.MethodPost, path, body, &b); err != nil {
		return err
	}
	t := bookingTable(b)
	t.head, t.rows[0] = append(t.head, "REFUND"), append(t.rows[0], refundCell(b))
	return c.print(b, t)
}

func refundCell(b booking.Booking) string {
	if b.Payment == nil || b.Payment.Refund == nil {
		return "-"
	}
	r := b.Payment.Refund
	text := r.Amount.String() + " " + b.Currency + " " + r.Status
	if r.Reason != "" {
		text += ": " + r.Reason
	}
	return text
}

func (c *command) previewCancellation() *cobra.Command {
	cmd := c.ofBusiness("cancellation SLUG ID", "Show what cancelling a booking would refund now, by its policy", 2,
		func(cmd *cobra.Command, args []string, client *client) error {
			var p booking.Cancellation
			if err := client.call(cmd.Context(), http.MethodGet, at(args[0], "bookings", args[1], "cancellation"), nil, &p); err != nil {
				return err
			}
			return c.print(p, cancellationTable(p))
		})
	cmd.Example = `  slotmesh bookings cancellation harbor 7d9f3c1e-6a1b-4a55-9c1d-2f0a8f6f3b11`
	return cmd
}

func cancellationTable(p booking.Cancellation) table {
	allowed, until := "yes", "-"
	if !p.Allowed {
		allowed = "no: " + p.Reason
	}
	if p.Until != nil {
		until = p.Until.Format(time.RFC3339)
	}
	return table{
		head: []string{"ALLOWED", "REFUND", "PERCENT", "UNTIL"},
		rows: [][]string{{allowed, p.Refund.Amount.String() + " " + p.Refund.Currency, fmt.Sprintf("%d %%", p.Refund.Percent), until}},
	}
}
