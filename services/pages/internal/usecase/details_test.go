package usecase_test

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/slotmesh/slotmesh/libs/contracts/catalog"
	"github.com/slotmesh/slotmesh/services/pages/internal/usecase"
)

// TestCheckRemovesInvisibleCharacters shows that invisible characters of pasted text are removed. Customers
// paste them from spreadsheets, contacts and letters without seeing them.
func TestCheckRemovesInvisibleCharacters(t *testing.T) {
	t.Parallel()
	b := &usecase.Business{Snapshot: &catalog.Snapshot{}}
	d := usecase.Details{Name: "\ufeffZo\u00eb\tExample\r\n", Email: " zoe@example.com\u200b\u00a0",
		Phone: "\u202a+351\u00a0210 000\u2011000\u202c"}
	if fieldErrors := b.Check(&d); len(fieldErrors) > 0 {
		t.Errorf("refused: %v", fieldErrors)
	}
	want := usecase.Details{Name: "Zo\u00eb Example", Email: "zoe@example.com", Phone: "+351 210 000\u2011000"}
	if diff := cmp.Diff(want.Name+"|"+want.Email+"|"+want.Phone, d.Name+"|"+d.Email+"|"+d.Phone); diff != "" {
		t.Error(diff)
	}
	joined := usecase.Details{Name: "\u0645\u06cc\u200c\u0646\u0627", Email: "m@example.com"}
	if b.Check(&joined); joined.Name != "\u0645\u06cc\u200c\u0646\u0627" {
		t.Errorf("a name that is written with a joiner is %q", joined.Name)
	}
}

func TestCheckRejectsInvalidPhone(t *testing.T) {
	t.Parallel()
	b := &usecase.Business{Snapshot: &catalog.Snapshot{}}
	for phone, want := range map[string]catalog.FieldError{"": "", "+351 21 000 0000": "",
		"abc":     catalog.FieldInvalidPhone,
		"ask Ali": catalog.FieldInvalidPhone, strings.Repeat("1", 51): catalog.FieldTooLong} {
		if fieldErrors := b.Check(&usecase.Details{Name: "Zoë", Email: "zoe@example.com",
			Phone: phone}); fieldErrors["phone"] != want {
			t.Errorf("%q: %q, want %q", phone, fieldErrors["phone"], want)
		}
	}
}

// TestCheckKnowsPhonesOfCountry shows that the country of the business decides about numbers without a country code.
func TestCheckKnowsPhonesOfCountry(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		zone, phone string
		isPossible  bool
	}{
		{"Europe/Berlin", "030 123456", true}, {"Europe/Berlin", "+351 21 000 0000", true},
		{"Europe/Berlin", "0049 30 123456", true}, {"Europe/Berlin", "+49 (0)30 123-456", true},
		{"Europe/Berlin", "+999 123456", false}, {"Europe/Berlin", "030 12345678901234567", false},
		{"Europe/Lisbon", "210 000 000", true}, {"Europe/Lisbon", "+351 1", false}, {"Europe/Lisbon", "21 000", false},
		{"America/New_York", "(212) 555-0100 ext 7", true}, {"America/New_York", "212", false},
		{"Asia/Tokyo", "０３-１２３４-５６７８", true}, {"Africa/Cairo", "٠٢ ٢٣٤٥٦٧٨٩", true},
		{"UTC", "123456", true}, {"UTC", "+351 1", false},
		{"UTC", "+999 123456", false}, {"Antarctica/Troll", "123456", true}, {"Antarctica/Troll", "+999 123456", false},
	} {
		b := &usecase.Business{Snapshot: &catalog.Snapshot{Timezone: c.zone}}
		d := usecase.Details{Name: "Zoë", Email: "zoe@example.com", Phone: c.phone}
		if got := b.Check(&d)["phone"] == ""; got != c.isPossible {
			t.Errorf("%s in %s is possible: %v", c.phone, c.zone, got)
		}
	}
}

func TestCheckRequiresPhoneIfBusinessCalls(t *testing.T) {
	t.Parallel()
	b := &usecase.Business{Snapshot: &catalog.Snapshot{}}
	for phone, want := range map[string]catalog.FieldError{"": catalog.FieldMissing, " ": catalog.FieldMissing,
		"abc": catalog.FieldInvalidPhone, "+351 21 000 0000": ""} {
		d := usecase.Details{Name: "Zoë", Email: "zoe@example.com", Phone: phone, NeedsPhone: true}
		if got := b.Check(&d)["phone"]; got != want {
			t.Errorf("%q: %q, want %q", phone, got, want)
		}
	}
}

// TestCheckedDetailsHaveNoControlCharacters checks random texts. Each accepted text is one line without control
// characters, as booking requires.
func TestCheckedDetailsHaveNoControlCharacters(t *testing.T) {
	t.Parallel()
	b := &usecase.Business{Snapshot: &catalog.Snapshot{}}
	rapid.Check(t, func(t *rapid.T) {
		d := usecase.Details{Name: rapid.OneOf(rapid.String(),
			rapid.Map(rapid.SliceOf(rapid.Byte()), func(b []byte) string {
				return string(b)
			})).Draw(t, "name"), Email: "zoe@example.com", Phone: rapid.String().Draw(t, "phone")}
		fieldErrors := b.Check(&d)
		for field, text := range map[string]string{"name": d.Name, "phone": d.Phone} {
			if fieldErrors[field] == "" && (!utf8.ValidString(text) || strings.ContainsFunc(text, unicode.IsControl) ||
				strings.TrimSpace(text) != text || field == "name" && text == "") {
				t.Errorf("the %s %q passes", field, text)
			}
		}
	})
}

// TestCheckRequiresCountry shows that the address needs a country, even if the business serves all countries. The only
// country that a business serves is filled in.
func TestCheckRequiresCountry(t *testing.T) {
	t.Parallel()
	b := &usecase.Business{Snapshot: &catalog.Snapshot{}}
	for _, c := range []struct {
		codes []string
		want  catalog.FieldError
	}{{nil, catalog.FieldMissing}, {[]string{"AT", "DE"}, catalog.FieldMissing}, {[]string{"DE"}, ""}} {
		d := usecase.Details{Name: "Zoë", Email: "zoe@example.com", AddressAt: &catalog.Location{Countries: c.codes}}
		d.Address.Street, d.Address.City = "Ring 1", "Ulm"
		if got := b.Check(&d)["country"]; got != c.want {
			t.Errorf("%v: %q, want %q", c.codes, got, c.want)
		}
	}
}
