package store_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/uuid"
	"golang.org/x/text/unicode/norm"
	"pgregory.net/rapid"

	"github.com/slotmesh/slotmesh/libs/contracts/booking"
	"github.com/slotmesh/slotmesh/libs/contracts/customer"
	"github.com/slotmesh/slotmesh/libs/platform/request"
	"github.com/slotmesh/slotmesh/libs/testkit"
)

// TestSearchIgnoresCaseAccentsAndOrder shows that each search of the owner finds a name whatever its case, accents,
// Unicode form or order of words.
func TestSearchIgnoresCaseAccentsAndOrder(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		by   []string
		not  []string
	}{
		{"Zoë Martins", []string{"ZOË", "zoe", "martins zoë", "MARTINS ZO", norm.NFD.String("zoë")},
			[]string{"zoé martinez", "zo_"}},
		{norm.NFD.String("Díaz Muñoz"), []string{"díaz", "DIAZ", "MUÑOZ DÍAZ", norm.NFC.String("muñoz")},
			[]string{"diez"}},
		{"ΣΩΚΡΆΤΗΣ Παπαδόπουλος", []string{"σωκράτης", "σωκρατησ", "ΠΑΠΑΔΟΠΟΥΛΟΣ", "παπαδόπουλοσ σωκ"},
			[]string{"πλάτων"}},
		{"Jürgen Müller", []string{"muller", "MÜLLER", "müller jürgen", "  muller   jur "},
			[]string{"mueller", "muller hans"}},
		{"Łukasz Øst Đorđe Strauß", []string{"lukasz", "ŁUKASZ", "ost", "STRAUSS", "strauß", "đorđe"},
			[]string{"%", "_"}},
		{"İpek Yıldız", []string{"ipek", "IPEK", "İPEK", "yildiz", "YILDIZ"}, nil},
		{"Фёдор Йович", []string{"ФЁДОР", "федор", "йович фёд"}, []string{"петр"}},
		{"Nguyễn Thị Ánh", []string{"nguyen", "NGUYỄN", "anh thi"}, nil},
		{`100%_\Ltd`, []string{"0%_", `\l`, "100%"}, []string{"100_"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s, _ := open(t)
			g := newGala(100, 50)
			b, order := newBooking(g.business, newPart(uuid.New(), 0, 0, 45)), g.newOrder(0, 1)
			b.Customer.Name, order.CustomerName = c.name, c.name
			address := "someone@example.com"
			b.Customer.Email, order.CustomerEmail = address, &address
			mustBook(t, s, b)
			if _, err := s.SellTicket(testkit.AsSystem(t), order); err != nil {
				t.Fatal(err)
			}
			for _, query := range slices.Concat(c.by, c.not, []string{"example.com " + c.name}) {
				want := 1
				if slices.Contains(c.not, query) {
					want = 0
				}
				bookings, _, err := s.Bookings(t.Context(), g.business, booking.Filter{Query: query},
					request.Page{Limit: 10})
				if err != nil || len(bookings) != want {
					t.Errorf("%q finds %d bookings, want %d: %v", query, len(bookings), want, err)
				}
				tickets, _, err := s.Tickets(t.Context(), g.business, booking.TicketFilter{Query: query},
					request.Page{Limit: 10})
				if err != nil || len(tickets) != want {
					t.Errorf("%q finds %d orders of tickets, want %d: %v", query, len(tickets), want, err)
				}
				customers, err := s.Customers(t.Context(), g.business, customer.Search{Query: query, Limit: 10})
				if err != nil || len(customers) != want {
					t.Errorf("%q finds %d customers, want %d: %v", query, len(customers), want, err)
				}
			}
		})
	}
}

// TestSearchFindsEveryFormOfAName shows that a query finds a name by its words in another case, order or Unicode
// normalization form.
func TestSearchFindsEveryFormOfAName(t *testing.T) {
	t.Parallel()
	_, pool := open(t)
	word := rapid.StringOfN(rapid.RuneFrom([]rune("abzÀÉñöüßøłŠžıİœÆþðĐσςΣάΏїЙёЖӘաՖאבעךکیéㅏ김がガथि")), 1, 8, -1)
	form := rapid.SampledFrom([]func(string) string{
		strings.ToUpper, strings.ToLower, norm.NFC.String, norm.NFD.String, norm.NFKD.String, strings.Clone,
	})
	rapid.Check(t, func(rt *rapid.T) {
		words := rapid.SliceOfN(word, 1, 3).Draw(rt, "words")
		name := form.Draw(rt, "form of the name")(strings.Join(words, " "))
		queried := rapid.Permutation(words).Draw(rt, "order")
		query := form.Draw(rt, "form of the query")(strings.Join(queried, " "))
		var stored, req string
		if err := pool.QueryRow(t.Context(), `SELECT search_text($1), search_text($2)`, name, query).Scan(&stored,
			&req); err != nil {
			rt.Fatal(err)
		}
		for part := range strings.FieldsSeq(req) {
			if !strings.Contains(stored, part) {
				rt.Fatalf("%q is %q, and %q asks for %q", name, stored, query, part)
			}
		}
	})
}
