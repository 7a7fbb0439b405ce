package command

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/spf13/cobra"

	"github.com/slotmesh/slotmesh/libs/contracts/availability"
	"github.com/slotmesh/slotmesh/libs/contracts/booking"
	"github.com/slotmesh/slotmesh/libs/values/fault"
)

// affectedBooking is a booking that the present offer would no longer accept. After a change, Outcome describes it.
type affectedBooking struct {
	Booking booking.Booking     `json:"booking"`
	Reason  availability.Reason `json:"reason"`
	Starts  []affectedStart     `json:"starts"`
	Unknown bool                `json:"starts_unknown"`
	Outcome string              `json:"outcome,omitempty"` // moved, cancelled or the reason of a refusal
}

// affectedStart is a free start to which the booking can move.
type affectedStart struct {
	booking.Reschedule
	StaffName string `json:"staff_name,omitempty"`
}

func (c *command) newAffectedCommand() *cobra.Command {
	var (
		from, to, staff, service, refund string
		isMove, isCancel, notify         bool
	)
	cmd := c.newBusinessCommand("affected SLUG", "List, move or cancel the bookings that the present offer would refuse",
		1, func(cmd *cobra.Command, args []string, client *client) error {
			names := client.newNameResolver(args[0])
			if err := cmp.Or(names.resolve(cmd.Context(), kindMember, &staff),
				names.resolve(cmd.Context(), kindService, &service)); err != nil {
				return err
			}
			query := url.Values{}
			for name, value := range map[string]string{"from": from, "to": to, "staff_id": staff, "service_id": service} {
				if value != "" {
					query.Set(name, value)
				}
			}
			amount, err := parseRefundFlag(refund)
			if err != nil {
				return err
			}
			found, last, err := readWithLast[affectedBooking](cmd.Context(), client,
				buildPath(args[0], "bookings", "affected"), "bookings", query, 0)
			if err != nil {
				return err
			}
			isIncomplete := warnUnexamined(cmd, last)
			change := affectedChange{isMove, isCancel, refundBody{booking.Cancel{Refund: amount}, newNotifyField(notify)}}
			failed := change.apply(cmd, client, args[0], found)
			all := map[string]any{"bookings": append([]affectedBooking{}, found...), // [] in JSON without a booking
				"unexamined": isIncomplete}
			if err := c.print(all, newAffectedTable(found)); err != nil {
				return err
			}
			if failed > 0 {
				return &localError{fmt.Errorf("%d of %d bookings are unchanged; repeat the command for them", failed,
					len(found))}
			}
			return nil
		})
	cmd.Long = `List the bookings ahead that the present offer would refuse, such as those of a member on time off or of a closed day, each with
the nearest free start. With --move each one moves there: to another member at the same time if one is free, otherwise to the nearest start.
With --cancel each one is cancelled. If a booking cannot be changed, the others are changed nevertheless. Repeat the command for the rest.`
	cmd.Example = `  slotmesh bookings affected harbor --from 2027-03-01 --to 2027-03-05 --staff anna
  slotmesh bookings affected harbor --from 2027-03-01 --to 2027-03-05 --staff anna --move
  slotmesh bookings affected harbor --from 2027-12-24 --to 2027-12-24 --cancel --refund full`
	flags := cmd.Flags()
	flags.StringVar(&from, "from", "", "from this date on, YYYY-MM-DD")
	flags.StringVar(&to, "to", "", "up to this date, included")
	flags.StringVar(&staff, "staff", "", "only those with a member, by their key, name or id")
	flags.StringVar(&service, "service", "", "only those of a service, by its key, name or id")
	flags.BoolVar(&isMove, "move", false, "move each one to its first free start")
	flags.BoolVar(&isCancel, "cancel", false, "cancel each one")
	flags.StringVar(&refund, "refund", string(booking.RefundFull),
		"with --cancel: how much of what was paid online: full, policy or none")
	addNotifyFlag(cmd, &notify)
	cmd.MarkFlagsMutuallyExclusive("move", "cancel")
	mustComplete(cmd, "refund", string(booking.RefundFull), string(booking.RefundPolicy), string(booking.RefundNone))
	return cmd
}

// warnUnexamined warns if a page of affected bookings is incomplete, and reports whether it is.
func warnUnexamined(cmd *cobra.Command, page map[string]json.RawMessage) bool {
	isIncomplete := string(page["unexamined"]) == "true"
	if isIncomplete {
		cmd.PrintErrln("Warning: There are more upcoming bookings than were checked.")
	}
	return isIncomplete
}

// affectedChange is what the command does with each booking.
type affectedChange struct {
	isMove, isCancel bool
	body             refundBody
}

// apply changes the bookings one after another, and returns the number of those that cannot be changed.
func (a affectedChange) apply(cmd *cobra.Command, client *client, slug string, list []affectedBooking) int {
	failed := 0
	for i := range list {
		var err error
		switch {
		case a.isMove:
			err = list[i].move(cmd.Context(), client, slug, a.body.Notify)
		case a.isCancel:
			err = list[i].cancel(cmd.Context(), client, slug, a.body)
		}
		if err != nil {
			list[i].Outcome = describeError(cmd, err)
			failed++
		}
	}
	return failed
}

// move moves the booking to its first start that is still free.
func (a *affectedBooking) move(ctx context.Context, client *client, slug string, notify *bool) error {
	if a.Unknown {
		return &localError{fmt.Errorf("the free starts cannot be read just now; repeat the command shortly")}
	}
	if len(a.Starts) == 0 {
		return &localError{fmt.Errorf("there is no free start within three weeks")}
	}
	var err error
	for _, start := range a.Starts {
		body := struct {
			booking.Reschedule
			Notify *bool `json:"notify,omitempty"`
		}{start.Reschedule, notify}
		err = client.call(ctx, http.MethodPost, buildPath(slug, "bookings", a.Booking.ID.String(), "reschedule"), body,
			&a.Booking)
		if err == nil {
			a.Outcome = "moved"
		}
		if !fault.Is(err, fault.SlotUnavailable) && !fault.Is(err, fault.NoStaffAvailable) {
			break
		}
	}
	return err
}

func (a *affectedBooking) cancel(ctx context.Context, client *client, slug string, body refundBody) error {
	err := client.call(ctx, http.MethodPost, buildPath(slug, "bookings", a.Booking.ID.String(), "cancel"), body,
		&a.Booking)
	if err == nil {
		a.Outcome = "cancelled"
	}
	return err
}

func newAffectedTable(list []affectedBooking) table {
	t := newBookingTable()
	t.head = append(t.head, "WHY", "FREE", "OUTCOME")
	for _, a := range list {
		free := map[bool]string{false: "-", true: "unknown"}[a.Unknown]
		if len(a.Starts) > 0 {
			free = strings.TrimSpace(a.Starts[0].Date + " " + a.Starts[0].Time + " " + a.Starts[0].StaffName)
		}
		t.rows = append(t.rows, append(newBookingTable(a.Booking).rows[0], a.Reason.Message, free,
			cmp.Or(a.Outcome, "-")))
	}
	return t
}
