package customerfile_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/slotmesh/slotmesh/libs/contracts/customer"
	"github.com/slotmesh/slotmesh/libs/values/fault"
	"github.com/slotmesh/slotmesh/services/console/internal/sales/customerfile"
)

func read(t *testing.T, file string) ([]customer.Row, []customerfile.Problem) {
	t.Helper()
	table, err := customerfile.Parse([]byte(file))
	if err != nil {
		t.Fatal(err)
	}
	rows, problems, err := table.Read(table.Guess())
	if err != nil {
		t.Fatal(err)
	}
	return rows, problems
}

func TestReadKeepsAddressesAndReportsLines(t *testing.T) {
	t.Parallel()
	rows, problems := read(t, "First Name,Last Name,E-mail,Mobile Phone,Notes,Tags,Birthday\r\n"+
		"Ada,Lovelace,\"Ada@Example.com; ada.l@example.com\",+44 20 7946 0000,\"Two\nlines\",\"VIP, regular\",1815\r\n"+
		",,,,,,\r\n"+
		"Bob,,not an address,,,,\r\n"+
		"Cy,,,,,,\r\n"+
		"Di,,,030 123456,,,\r\n")
	want := []customer.Row{
		{Line: 2, Name: "Ada Lovelace", Emails: []string{"ada@example.com", "ada.l@example.com"},
			Phones: []string{"+44 20 7946 0000"}, Notes: "Two\nlines", Tags: []string{"VIP", "regular"}},
		{Line: 7, Name: "Di", Emails: []string{}, Phones: []string{"030 123456"}, Tags: []string{}},
	}
	if diff := cmp.Diff(want, rows); diff != "" {
		t.Errorf("rows (-want +got):\n%s", diff)
	}
	if len(problems) != 2 || problems[0].Line != 5 || problems[1].Line != 6 ||
		!strings.Contains(problems[1].Message, "phone number") {
		t.Errorf("problems: %+v", problems)
	}
}

// TestGuessKnowsOtherPrograms shows that the first lines of the exports of other programs need no choice by hand.
func TestGuessKnowsOtherPrograms(t *testing.T) {
	t.Parallel()
	for head, want := range map[string][]customerfile.Column{
		"Vorname;Nachname;E-Mail-Adresse;Telefon":    {"first_name", "last_name", "email", "phone"},
		"Prénom\tNom de famille\tCourriel\tPortable": {"first_name", "last_name", "email", "phone"},
		"Nombre,Apellidos,Correo electrónico,Móvil":  {"name", "last_name", "email", "phone"},
		"氏名,メールアドレス,電話番号,メモ":                         {"name", "email", "phone", "notes"},
		"Reference ID,First Name,Last Name,Email Address,Phone Number,Memo": {"", "first_name", "last_name", "email",
			"phone", "notes"}, // Square
		"id,first_name,last_name,email,phone_number,notes": {"", "first_name", "last_name", "email", "phone", "notes"},
	} {
		table, err := customerfile.Parse([]byte(head + "\na,b,c"))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, table.Guess()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", head, diff)
		}
	}
}

func TestParseReadsEncodingsOfSpreadsheets(t *testing.T) {
	t.Parallel()
	for encoding, file := range map[string]string{
		"UTF-8 with a mark": "\xef\xbb\xbfName,Email\nZoë,zoe@example.com\n",
		"Windows-1252":      "Name,Email\nZo\xeb,zoe@example.com\n",
		"UTF-16":            "\xff\xfeN\x00a\x00m\x00e\x00,\x00E\x00m\x00a\x00i\x00l\x00\n\x00Z\x00o\x00\xeb\x00,\x00z\x00o\x00e\x00@\x00a\x00.\x00d\x00e\x00",
	} {
		if rows, _ := read(t, file); len(rows) != 1 || rows[0].Name != "Zoë" {
			t.Errorf("%s: %+v", encoding, rows)
		}
	}
}

func TestParseRefusesOtherFiles(t *testing.T) {
	t.Parallel()
	for name, file := range map[string]string{
		"empty": "", "only a first line": "name,email\n", "a picture": "\x89PNG\r\n\x00\x00",
		"too large":        strings.Repeat("x", customerfile.MaxBytes+1),
		"too many rows":    "email\n" + strings.Repeat("a\n", customer.MaxImported+1),
		"too many columns": strings.Repeat(",", customerfile.MaxColumns) + "\na",
	} {
		if _, err := customerfile.Parse([]byte(file)); !fault.Is(err, fault.InvalidParameter) {
			t.Errorf("%s: %v", name, err)
		}
	}
	table, err := customerfile.Parse([]byte("color\nred"))
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := table.Read(table.Guess()); !fault.Is(err, fault.InvalidParameter) {
		t.Errorf("without addresses: %v", err)
	}
}
