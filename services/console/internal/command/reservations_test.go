package command_test

import (
	"strings"
	"testing"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/contracts/booking"
	"github.com/slotmesh/slotmesh/libs/contracts/rental"
	"github.com/slotmesh/slotmesh/services/console/internal/consoletest"
)

const kayak = "22222222-2222-4222-8222-222222222222"

func TestReservationsCreateListAndTransition(t *testing.T) {
	t.Parallel()
	s := newShell(t, consoletest.Start(t))
	create := func(customer string, more ...string) string {
		args := []string{"reservations", "create", "harbor", "-o", "json", "--rental", kayak, "--start", "2026-12-01",
			"--end", "2026-12-03", "--customer", customer}
		return decode(t, s.mustRun(append(args, more...)...))["id"].(string)
	}
	id := create("Cara")
	late := create("Late Larry", "--quantity", "3", "--start-time", "09:00", "--end-time", "17:30")
	answer := decode(t, s.mustRun("reservations", "create", "harbor", "-o", "json", "--rental", kayak, "--start",
		"2027-12-01", "--end", "2027-12-03", "--customer", "Dora", "--email", "dora@example.com", "--phone", "+351 1",
		"--locale", "pt"))
	if answer["customer_email"] != "dora@example.com" || answer["locale"] != "pt" {
		t.Errorf("reserved: %v", answer)
	}
	if out := s.mustRun("reservations", "pickup", "harbor", late); !strings.Contains(out, "picked_up (overdue)") {
		t.Error(out)
	}
	lines := strings.Split(s.mustRun("reservations", "list", "harbor", "--from", "2026-12-02", "--to", "2026-12-02"),
		"\n")
	want := []string{
		"ID                                    RENTAL  QUANTITY  FROM              TO                STATUS               CUSTOMER",
		id + "  Kayak   1         2026-12-01        2026-12-03        reserved             Cara",
		late + "  Kayak   3         2026-12-01 09:00  2026-12-03 17:30  picked_up (overdue)  Late Larry",
		"",
	}
	if strings.Join(lines, "\n") != strings.Join(want, "\n") {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(lines, "\n"), strings.Join(want, "\n"))
	}
	if out := s.mustRun("reservations", "return", "harbor", late, "-o", "json"); decode(t,
		out)["status"] != "returned" {
		t.Error(out)
	}
	s.mustRun("reservations", "cancel", "harbor", id)
	s.expectFailure(1, "cancelled", "reservations", "cancel", "harbor", id)
	s.expectFailure(1, "start_date", "reservations", "create", "harbor", "--rental", kayak, "--start", "x", "--end",
		"x",
		"--customer", "Cara")
	s.expectFailure(2, "customer", "reservations", "create", "harbor", "--rental", kayak, "--start", "2026-12-01",
		"--end",
		"2026-12-01")
	s.expectFailure(1, "from", "reservations", "list", "harbor", "--from", "2027-02-29")
}

func TestReservationsCancelWithRefund(t *testing.T) {
	t.Parallel()
	w := consoletest.Start(t)
	s := newShell(t, w)
	w.Call(t, "PUT", "/admin/businesses/harbor", consoletest.BuildManifest("harbor", "Harbor"))
	id := uuid.New()
	w.Rental.Add(rental.Reservation{
		ID: id, RentalName: "Kayak", Status: rental.StatusReserved, Quantity: 2, Extras: []rental.Extra{},
		Currency: "EUR", CustomerName: "Cara", FormData: []byte("{}"),
		Payment: &booking.Payment{Provider: "stripe", Status: booking.PaymentPaid, Amount: "20.00", Refunded: "0.00"},
	})
	if out := s.mustRun("reservations", "cancellation", "harbor", id.String()); !strings.Contains(out,
		"yes      10.00 EUR  50 %") {
		t.Error(out)
	}
	s.expectFailure(2, "an amount such as 12.50", "reservations", "cancel", "harbor", id.String(), "--refund", "half")
	s.expectFailure(1, "cancel it", "reservations", "refund", "harbor", id.String())
	if out := s.mustRun("reservations", "cancel", "harbor", id.String(), "--refund", "12.50"); !strings.Contains(out,
		"cancelled") || !strings.Contains(out, "12.50 EUR pending") {
		t.Error(out)
	}
	if out := s.mustRun("reservations", "refund", "harbor", id.String()); !strings.Contains(out, "20.00 EUR pending") {
		t.Error(out)
	}
}

func TestReservationListReadsAllPages(t *testing.T) {
	t.Parallel()
	s := newShell(t, consoletest.Start(t))
	for range 5 { // a page has three reservations
		s.mustRun("reservations", "create", "harbor", "--rental", kayak, "--start", "2026-12-01", "--end", "2026-12-03",
			"--customer", "Cara")
	}
	list := decode(t, s.mustRun("reservations", "list", "harbor", "-o", "json"))["reservations"].([]any)
	if len(list) != 5 {
		t.Errorf("%d of 5 reservations are listed", len(list))
	}
}

func TestCustomersListExportAndErase(t *testing.T) {
	t.Parallel()
	w := consoletest.Start(t)
	w.Call(t, "PUT", "/admin/businesses/harbor", consoletest.BuildManifest("harbor", "Harbor"))
	s := newShell(t, w)
	s.mustRun("reservations", "create", "harbor", "--rental", kayak, "--start", "2026-12-01", "--end", "2026-12-03",
		"--customer", "Cara", "--email", "cara@example.com")
	want := "EMAIL             NAME  PHONE  BOOKINGS  TICKETS  RESERVATIONS  LAST                  TAGS\ncara@example.com  Cara  -      0         0        1             "
	if got := s.mustRun("customers", "list", "harbor", "--query", "CAR"); !strings.HasPrefix(got, want) {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if got := s.mustRun("customers", "export", "harbor", "--email",
		"cara@example.com"); len(decode(t, got)["reservations"].([]any)) != 1 {
		t.Errorf("exported %s", got)
	}
	if got := s.mustRun("customers", "erase", "harbor", "--email",
		"cara@example.com"); got != "Forgotten: 0 bookings, 0 orders of tickets, 1 reservations, 0 messages, 0 deliveries of "+
		"webhooks, 0 records.\n" {
		t.Errorf("erased: %s", got)
	}
	s.expectFailure(1, "email", "customers", "erase", "harbor", "--email", "cara")
	s.expectFailure(2, "email", "customers", "export", "harbor")
}
