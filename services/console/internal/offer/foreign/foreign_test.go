package foreign_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/slotmesh/slotmesh/libs/contracts/manifest"
	"github.com/slotmesh/slotmesh/libs/values/fault"
	"github.com/slotmesh/slotmesh/services/console/internal/offer/foreign"
)

func read(t *testing.T, files ...string) *foreign.Offer {
	t.Helper()
	var all [][]byte
	for _, file := range files {
		all = append(all, []byte(file))
	}
	offer, err := foreign.Read(all...)
	if err != nil {
		t.Fatal(err)
	}
	return offer
}

func TestReadKnowsExportsOfOtherPrograms(t *testing.T) {
	t.Parallel()
	for program, c := range map[string]struct {
		files []string
		want  foreign.Offer
	}{
		"Easy!Appointments": {[]string{
			`[{"id": 1, "name": "Haircut", "duration": 45, "price": 30, "currency": "EUR", "attendantsNumber": 1}]`,
			`[{"id": 7, "firstName": "Anna", "lastName": "Lopes", "email": "a@example.com", "services": [1]}]`,
		}, foreign.Offer{Currency: "EUR", Staff: []string{"Anna Lopes"},
			Services: []foreign.Service{{Name: "Haircut", Minutes: 45, Price: "30", Staff: []string{"Anna Lopes"}}}}},
		"Cal.com": {[]string{`{"status": "success", "data": [
			{"id": 3, "title": "Intro call", "slug": "intro", "lengthInMinutes": 30, "price": 0, "currency": "usd",
			 "users": [{"id": 1, "name": "Ben"}]}]}`},
			foreign.Offer{Currency: "USD", Staff: []string{"Ben"},
				Services: []foreign.Service{{Name: "Intro call", Minutes: 30, Price: "0", Staff: []string{"Ben"}}}}},
		"Square": {[]string{"Token,Item Name,Variation Name,Price,Category\n1,Massage,Regular,60.00,Body\n" +
			"2,Massage,Long,$95.00,Body\n"},
			foreign.Offer{Services: []foreign.Service{{Name: "Massage", Price: "60.00"},
				{Name: "Massage – Long", Price: "95.00"}}}},
		"a spreadsheet": {[]string{"Leistung;Dauer;Preis;Mitarbeiter\nFärben;1:30 Std;84,50 €;Anna / Ben\n"},
			foreign.Offer{Staff: []string{"Anna", "Ben"},
				Services: []foreign.Service{{Name: "Färben", Minutes: 90, Price: "84.50", Staff: []string{"Anna", "Ben"}}}}},
	} {
		if diff := cmp.Diff(&c.want, read(t, c.files...)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", program, diff)
		}
	}
}

// TestDraftIsValidManifest shows that a draft can be published as it is, whatever names the files have.
func TestDraftIsValidManifest(t *testing.T) {
	t.Parallel()
	offer := read(t, "name,duration,price,staff\n\"A \"\"quoted\"\" name: #1\",45,30,Zoë\nカット,,,ベン\nカット,2 h,,Zoë\n"+
		strings.Repeat("long ", 30)+",30,5,\n")
	text := offer.Draft(foreign.Business{Slug: "harbor", Name: "Harbor: Studio", Timezone: "Europe/Lisbon"})
	m, problems := manifest.Parse([]byte(text))
	if len(problems) > 0 {
		t.Fatalf("%v\n%s", problems, text)
	}
	if len(m.Services) != 4 || len(m.Staff) != 2 || m.Services[2].DurationMinutes != 120 ||
		!strings.Contains(text, "# check the duration") {
		t.Errorf("the draft is\n%s", text)
	}
}

func TestReadRefusesOtherFiles(t *testing.T) {
	t.Parallel()
	for name, file := range map[string]string{"empty": "", "broken": "[{", "an object": `{"color": "red"}`,
		"no names": "color,price\nred,3\n", "no object": "[1]", "no rows": "name,price\n"} {
		if _, err := foreign.Read([]byte(file)); !fault.Is(err, fault.InvalidParameter) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
