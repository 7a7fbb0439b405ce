package command

import (
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/slotmesh/slotmesh/libs/contracts/booking"
)

// saleKind describes a kind of object that customers pay for online: bookings, reservations or tickets.
type saleKind[T any] struct {
	list    string // part of the path for the kind, and name of its group of commands
	one     string // name of one object of the kind, for help texts
	table   func(...T) table
	payment func(T) (*booking.Payment, string) // returns the payment and its currency
}

// newRefundCommands returns three commands for a kind of paid object: one cancels an object, one previews the
// cancellation, and one refunds the object. The argument `freed` is a part of the help of the cancel command. It names
// what a cancellation makes available again.
func newRefundCommands[T any](c *command, of saleKind[T], freed string) []*cobra.Command {
	return []*cobra.Command{newCancelCommand(c, of, freed), newPreviewCommand(c, of), newRefundCommand(c, of)}
}

func newCancelCommand[T any](c *command, of saleKind[T], freed string) *cobra.Command {
	short := "Cancel " + of.one + "; " + freed + ", and what was paid online is refunded"
	return newAmountCommand(c, of, "cancel", short, "refund", booking.RefundPolicy,
		"how much of what was paid online: policy, full, none or an amount",
		booking.RefundPolicy, booking.RefundFull, booking.RefundNone)
}

func newRefundCommand[T any](c *command, of saleKind[T]) *cobra.Command {
	return newAmountCommand(c, of, "refund", "Refund "+of.one+" that is over, or try a refused refund again", "amount",
		booking.RefundFull,
		"how much of what was paid online: full, which is all that is left, or an amount", booking.RefundFull)
}

// newAmountCommand returns the cancel command or the refund command. The argument `write` is the name of this command.
// The command sends the amount to refund, and prints the refund. The user sets this amount by the flag named `flag`, as
// a number or as one of the texts in the argument `words`. The argument `defaultAmount` is the default of this flag.
func newAmountCommand[T any](c *command, of saleKind[T], write, short, flag string, defaultAmount booking.RefundAmount,
	usage string,
	words ...booking.RefundAmount) *cobra.Command {
	var (
		amount, reason string
		notify         bool
	)
	cmd := c.newBusinessCommand(write+" SLUG ID", short, 2,
		func(cmd *cobra.Command, args []string, client *client) error {
			refundAmount, err := parseRefundFlag(amount)
			if err != nil {
				return err
			}
			var left T
			if err := client.call(cmd.Context(), http.MethodPost, buildPath(args[0], of.list, args[1], write),
				refundBody{booking.Cancel{Refund: refundAmount, Reason: reason}, newNotifyField(notify)}, &left); err != nil {
				return err
			}
			t := of.table(left)
			t.head, t.rows[0] = append(t.head, "REFUND"), append(t.rows[0], formatRefund(of.payment(left)))
			return c.print(left, t)
		})
	cmd.Flags().StringVar(&amount, flag, string(defaultAmount), usage)
	if write == "cancel" {
		addNotifyFlag(cmd, &notify)
		cmd.Flags().StringVar(&reason, "reason", "", "text of at most 300 characters that the customer's e-mail shows")
	} else {
		notify = true
	}
	call := "  slotmesh " + of.list + " " + write + " harbor 7d9f3c1e-6a1b-4a55-9c1d-2f0a8f6f3b11"
	examples := []string{call, call + " --" + flag + " 12.50"}
	if write == "cancel" {
		examples = append(examples, call+` --reason "Anna is ill."`)
	}
	texts := make([]string, len(words))
	for i, word := range words {
		if texts[i] = string(word); word == booking.RefundFull && word != defaultAmount {
			examples = append(examples, call+" --"+flag+" full")
		}
	}
	cmd.Example = strings.Join(examples, "\n")
	mustComplete(cmd, flag, texts...)
	return cmd
}

// refundBody is the body of a request that cancels or refunds an object.
type refundBody struct {
	booking.Cancel
	Notify *bool `json:"notify,omitempty"`
}

// addNotifyFlag adds the flag --notify, by which the user can turn off the customer's notification.
func addNotifyFlag(cmd *cobra.Command, notify *bool) {
	cmd.Flags().BoolVar(notify, "notify", true, "notify the customer by e-mail; --notify=false does not")
}

// newNotifyField returns the value of the field `notify` of a request. The value is a pointer to false if the customer
// must not be notified; otherwise it is nil, and the request omits the field.
func newNotifyField(notify bool) *bool {
	if notify {
		return nil
	}
	return &notify
}

func parseRefundFlag(text string) (booking.RefundAmount, error) {
	refundAmount, err := booking.ParseRefund(text)
	if err != nil {
		return "", fmt.Errorf("%s: write policy, full, none or an amount such as 12.50", text)
	}
	return refundAmount, nil
}

func formatRefund(paid *booking.Payment, currency string) string {
	if paid == nil || paid.Refund == nil {
		return "-"
	}
	r := paid.Refund
	text := r.Amount.String() + " " + currency + " " + r.Status
	if r.Reason != "" {
		text += ": " + r.Reason
	}
	return text
}

func newPreviewCommand[T any](c *command, of saleKind[T]) *cobra.Command {
	cmd := c.newBusinessCommand("cancellation SLUG ID", "Show what cancelling "+of.one+
		" would refund now, by its policy", 2,
		func(cmd *cobra.Command, args []string, client *client) error {
			var p booking.Cancellation
			if err := client.call(cmd.Context(), http.MethodGet, buildPath(args[0], of.list, args[1], "cancellation"),
				nil,
				&p); err != nil {
				return err
			}
			return c.print(p, newCancellationTable(p))
		})
	cmd.Example = "  slotmesh " + of.list + " cancellation harbor 7d9f3c1e-6a1b-4a55-9c1d-2f0a8f6f3b11"
	return cmd
}

func newCancellationTable(p booking.Cancellation) table {
	allowed, until := "yes", "-"
	if !p.Allowed {
		allowed = "no: " + p.Reason
	}
	if p.Until != nil {
		until = p.Until.Format(time.RFC3339)
	}
	return table{
		head: []string{"ALLOWED", "REFUND", "PERCENT", "UNTIL"},
		rows: [][]string{{allowed, p.Refund.Amount.String() + " " + p.Refund.Currency,
			fmt.Sprintf("%d %%", p.Refund.Percent), until}},
	}
}
