package store_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/contracts/customer"
	"github.com/slotmesh/slotmesh/libs/platform/postgres"
	"github.com/slotmesh/slotmesh/libs/testkit"
	"github.com/slotmesh/slotmesh/libs/values/fault"
	"github.com/slotmesh/slotmesh/services/booking/internal/store"
)

const (
	adaEmail = "ada.l@example.com"
	adaPhone = "+351210555019"
)

// bookAda books once with Ada's e-mail address, and once with her phone number alone.
func bookAda(t *testing.T, s *store.Store, business uuid.UUID) {
	t.Helper()
	byPhone := newAdaBooking(business, 60*24)
	byPhone.Customer.Email, byPhone.Customer.Name = "", "A. Lovelace"
	mustBook(t, s, newAdaBooking(business, 0), byPhone)
}

// listCustomers returns the customers who match a search, each as a text.
func listCustomers(t *testing.T, s *store.Store, business uuid.UUID, search customer.Search) string {
	t.Helper()
	search.Limit, search.Phones = 10, true
	list, err := s.Customers(testkit.AsSystem(t), business, search)
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, c := range list {
		all = append(all, fmt.Sprintf("%s %q %d %s", c.Key, c.Name, c.Bookings, strings.Join(c.Tags, ",")))
	}
	return strings.Join(all, "; ")
}

func TestCustomersListsPhonesWithoutEmail(t *testing.T) {
	t.Parallel()
	s, _ := open(t)
	business := uuid.New()
	bookAda(t, s, business)
	want := `+351210555019 "A. Lovelace" 1 ; ada.l@example.com "Ada Lovelace" 1 `
	if got := listCustomers(t, s, business, customer.Search{}); got != want {
		t.Errorf("%s, want %s", got, want)
	}
	list, err := s.Customers(testkit.AsSystem(t), business, customer.Search{Limit: 10})
	if err != nil || len(list) != 1 || list[0].Email != adaEmail {
		t.Errorf("for consoles of the previous release: %+v, %v", list, err)
	}
	bookings, _, err := s.FindCustomerData(testkit.AsSystem(t), business, []string{adaPhone}, 10)
	if err != nil || len(bookings) != 1 || bookings[0].Customer.Email != "" {
		t.Errorf("the bookings of the phone number: %+v, %v", bookings, err)
	}
}

func TestChangeCustomerKeepsRecordOfAllAddresses(t *testing.T) {
	t.Parallel()
	s, pool := open(t)
	business, ctx := uuid.New(), testkit.AsSystem(t)
	bookAda(t, s, business)
	change := customer.Change{Customer: adaEmail, Notes: new("Prefers mornings."), Tags: &[]string{"regular"},
		Phones: &[]string{"+351 210 555 019"}}
	if _, err := s.ChangeCustomer(ctx, business, change, now); err != nil {
		t.Fatal(err)
	}
	want := `+351210555019 "Ada Lovelace" 2 regular`
	for name, search := range map[string]customer.Search{"all": {}, "by tag": {Tag: "regular"},
		"by a word of the tag": {Query: "REGUL"}, "by the other address": {Of: []string{adaEmail}}} {
		if got := listCustomers(t, s, business, search); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
	if got := listCustomers(t, s, business, customer.Search{Tag: "other"}); got != "" {
		t.Errorf("with another tag: %s", got)
	}
	record, err := s.FindCustomerRecord(ctx, business, adaPhone)
	if err != nil || record.ID == nil || record.Notes != "Prefers mornings." || record.Name != "Ada Lovelace" ||
		cmp.Diff([]string{adaEmail, adaPhone}, record.Keys()) != "" {
		t.Errorf("the record is %+v, %v", record, err)
	}
	taken := customer.Change{Customer: "bob@example.com", Emails: &[]string{"bob@example.com", adaEmail}}
	if _, err := s.ChangeCustomer(ctx, business, taken, now); !fault.Is(err, fault.Conflict) {
		t.Errorf("an address of another record: %v", err)
	}
	none := customer.Change{Customer: adaEmail, Emails: &[]string{}, Phones: &[]string{}}
	if _, err := s.ChangeCustomer(ctx, business, none, now); !fault.Is(err, fault.InvalidParameter) {
		t.Errorf("without an address: %v", err)
	}
	if n := mustCount(t, pool, `SELECT count(*) FROM events WHERE type = 'customer.changed' AND business_id = $1`,
		business); n != 1 {
		t.Errorf("%d events, want 1", n)
	}
}

func TestMergeCanBeUndone(t *testing.T) {
	t.Parallel()
	s, _ := open(t)
	business, ctx := uuid.New(), testkit.AsSystem(t)
	bookAda(t, s, business)
	write := func(address, notes string) {
		t.Helper()
		change := customer.Change{Customer: address, Notes: &notes, Tags: &[]string{notes}}
		if _, err := s.ChangeCustomer(ctx, business, change, now); err != nil {
			t.Fatal(err)
		}
	}
	write(adaEmail, "mornings")
	write(adaPhone, "deaf")
	merge := customer.MergeRequest{Into: adaEmail, From: adaPhone}
	if _, err := s.MergeCustomers(ctx, business, merge, now.Add(time.Minute)); err != nil {
		t.Fatal(err)
	}
	if got, want := listCustomers(t, s, business, customer.Search{}),
		`+351210555019 "Ada Lovelace" 2 mornings,deaf`; got != want {
		t.Errorf("merged: %s, want %s", got, want)
	}
	record, err := s.FindCustomerRecord(ctx, business, adaPhone)
	if err != nil || record.Notes != "mornings\n\ndeaf" || len(record.Merges) != 1 ||
		record.Merges[0].Name != "A. Lovelace" {
		t.Fatalf("merged: %+v, %v", record, err)
	}
	if _, err := s.MergeCustomers(ctx, business, merge, now); !fault.Is(err, fault.Conflict) {
		t.Errorf("merged again: %v", err)
	}
	separate := customer.Separate{Customer: adaEmail, MergeID: record.Merges[0].ID}
	if _, err := s.SeparateCustomers(ctx, business, separate, now.Add(time.Hour)); err != nil {
		t.Fatal(err)
	}
	want := `+351210555019 "A. Lovelace" 1 deaf; ada.l@example.com "Ada Lovelace" 1 mornings`
	if got := listCustomers(t, s, business, customer.Search{}); got != want {
		t.Errorf("separated: %s, want %s", got, want)
	}
	if _, err := s.SeparateCustomers(ctx, business, separate, now); !fault.Is(err, fault.NotFound) {
		t.Errorf("separated again: %v", err)
	}
}

// TestSeparateRemovesWhatMergeAdded shows that an edit after a merge stays, without the notes and tags of the other.
func TestSeparateRemovesWhatMergeAdded(t *testing.T) {
	t.Parallel()
	s, _ := open(t)
	business, ctx := uuid.New(), testkit.AsSystem(t)
	change := func(address, notes string, tags ...string) {
		t.Helper()
		if _, err := s.ChangeCustomer(ctx, business, customer.Change{Customer: address, Notes: &notes, Tags: &tags},
			now); err != nil {
			t.Fatal(err)
		}
	}
	change(adaEmail, "one", "a")
	change(adaPhone, "two", "A", "b")
	if _, err := s.MergeCustomers(ctx, business, customer.MergeRequest{Into: adaEmail, From: adaPhone}, now); err != nil {
		t.Fatal(err)
	}
	change(adaEmail, "one\n\ntwo\n\nthree", "a", "b", "c")
	record, err := s.FindCustomerRecord(ctx, business, adaEmail)
	if err != nil || len(record.Merges) != 1 {
		t.Fatal(record, err)
	}
	if _, err := s.SeparateCustomers(ctx, business,
		customer.Separate{Customer: adaEmail, MergeID: record.Merges[0].ID}, now); err != nil {
		t.Fatal(err)
	}
	record, err = s.FindCustomerRecord(ctx, business, adaEmail)
	if err != nil || record.Notes != "one\n\nthree" || !slices.Equal(record.Tags, []string{"a", "c"}) {
		t.Errorf("%+v, %v", record, err)
	}
}

// TestCustomersHaveOneKeyInAllScripts shows that Go and PostgreSQL compute the same key of a telephone number.
func TestCustomersHaveOneKeyInAllScripts(t *testing.T) {
	t.Parallel()
	_, pool := open(t)
	for _, number := range []string{"+351 210", "+٣٥١ ٢١٠", "۰۹۱۲", "०१२३", "০১২৩", "๐๑๒๓", "０１２３", "12", "٢١", "+"} {
		var key string
		if err := pool.QueryRow(t.Context(), `SELECT coalesce(`+postgres.CustomerKey+`, '')
			FROM (SELECT '' AS customer_email, $1::text AS customer_phone) AS sale`, number).Scan(&key); err != nil {
			t.Fatal(err)
		}
		if key != customer.Key(number) {
			t.Errorf("%s: %q, want %q", number, key, customer.Key(number))
		}
	}
	if got := customer.Key("+٣٥١ ٢١٠"); got != "+351210" {
		t.Errorf("%q", got)
	}
}

// TestSeparateKeepsLaterNotes shows that undoing a merge does not discard what people wrote after the merge.
func TestSeparateKeepsLaterNotes(t *testing.T) {
	t.Parallel()
	s, _ := open(t)
	business, ctx := uuid.New(), testkit.AsSystem(t)
	bookAda(t, s, business)
	if _, err := s.MergeCustomers(ctx, business, customer.MergeRequest{Into: adaEmail, From: adaPhone}, now); err != nil {
		t.Fatal(err)
	}
	later := customer.Change{Customer: adaPhone, Notes: new("later")}
	if _, err := s.ChangeCustomer(ctx, business, later, now.Add(time.Hour)); err != nil {
		t.Fatal(err)
	}
	record, err := s.FindCustomerRecord(ctx, business, adaEmail)
	if err != nil || len(record.Merges) != 1 {
		t.Fatal(record, err)
	}
	if _, err := s.SeparateCustomers(ctx, business,
		customer.Separate{Customer: adaEmail, MergeID: record.Merges[0].ID}, now.Add(2*time.Hour)); err != nil {
		t.Fatal(err)
	}
	if record, err = s.FindCustomerRecord(ctx, business, adaEmail); err != nil || record.Notes != "later" {
		t.Errorf("%+v, %v", record, err)
	}
}

func TestImportCustomersIsRepeatable(t *testing.T) {
	t.Parallel()
	s, pool := open(t)
	business, ctx := uuid.New(), testkit.AsSystem(t)
	bookAda(t, s, business)
	req := customer.Import{Rows: []customer.Row{
		{Line: 2, Name: "Ada King", Emails: []string{adaEmail}, Phones: []string{"+351 210 555 019"}, Tags: []string{"old"}},
		{Line: 3, Name: "Bob", Emails: []string{}, Phones: []string{"030 123"}, Tags: []string{}},
		{Line: 4, Name: "Bob", Emails: []string{}, Phones: []string{"030-123"}, Tags: []string{}},
	}}
	run := func(isDry bool, added int, duplicate ...int) customer.Imported {
		t.Helper()
		req.DryRun = isDry
		got, err := s.ImportCustomers(ctx, business, req, now)
		if err != nil || got.Added != added || cmp.Diff(append([]int{}, duplicate...), got.Duplicate) != "" {
			t.Fatalf("%+v, %v, want %d added and duplicates %v", got, err, added, duplicate)
		}
		return got
	}
	run(true, 2, 4)
	id := run(false, 2, 4).ID
	run(false, 0, 2, 3, 4)
	if got, want := listCustomers(t, s, business, customer.Search{}),
		`+351210555019 "Ada King" 2 old; 030123 "Bob" 0 `; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if _, err := s.ChangeCustomer(ctx, business, customer.Change{Customer: "030 123", Notes: new("kept")},
		now.Add(time.Hour)); err != nil {
		t.Fatal(err)
	}
	imports, err := s.CustomerImports(ctx, business)
	if err != nil || len(imports) != 1 || imports[0].Customers != 2 || imports[0].Left != 1 {
		t.Errorf("%+v, %v", imports, err)
	}
	undone, err := s.UndoCustomerImport(ctx, business, *id, now)
	if err != nil || undone.Records != 1 {
		t.Errorf("undone: %+v, %v", undone, err)
	}
	if n := mustCount(t, pool, `SELECT count(*) FROM customer_records WHERE business_id = $1`, business); n != 1 {
		t.Errorf("%d records are left, want the changed one", n)
	}
	if _, err := s.UndoCustomerImport(ctx, business, uuid.New(), now); !fault.Is(err, fault.NotFound) {
		t.Errorf("an unknown import: %v", err)
	}
}

// TestRecordsEndWithRetention shows that a record is removed when it has not changed during the retention time, and no
// sale of the customer is left. An erasure removes it at once.
func TestRecordsEndWithRetention(t *testing.T) {
	t.Parallel()
	s, pool := open(t)
	business, ctx := uuid.New(), testkit.AsSystem(t)
	bookAda(t, s, business) // at noon, and a day later
	for address, at := range map[string]time.Time{adaEmail: now, adaPhone: now, "old@example.com": now,
		"new@example.com": noon.AddDate(0, 0, 9)} {
		if _, err := s.ChangeCustomer(ctx, business, customer.Change{Customer: address, Notes: new("x")}, at); err != nil {
			t.Fatal(err)
		}
	}
	left := func() string {
		t.Helper()
		var all string
		if err := pool.QueryRow(ctx, `SELECT coalesce(string_agg(address, ' ' ORDER BY address), '')
			FROM customer_addresses WHERE business_id = $1`, business).Scan(&all); err != nil {
			t.Fatal(err)
		}
		return all
	}
	if due, err := s.BusinessesToAnonymize(ctx, uuid.Nil, noon.Add(2*time.Hour), 10); err != nil || len(due) != 1 {
		t.Errorf("due: %v, %v", due, err)
	}
	if _, err := s.AnonymizeEnded(ctx, business, noon.Add(2*time.Hour)); err != nil {
		t.Fatal(err)
	}
	if got, want := left(), adaPhone+" new@example.com"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	kept, err := s.RemoveCustomerRecords(ctx, business, []string{adaPhone}, true, now)
	record, findErr := s.FindCustomerRecord(ctx, business, adaPhone)
	if err != nil || findErr != nil || kept.Records != 1 || record.ID == nil || record.Notes != "" {
		t.Errorf("%+v, %v; kept %+v, %v", kept, err, record, findErr)
	}
	removed, err := s.RemoveCustomerRecords(ctx, business, []string{adaPhone, "unknown@example.com"}, false, now)
	if err != nil || removed.Records != 1 || left() != "new@example.com" {
		t.Errorf("%+v, %v; left %q", removed, err, left())
	}
}
