package manifest

import (
	"strings"
	"testing"
)

func TestHintsNameSimilarField(t *testing.T) {
	t.Parallel()
	const service = "services: [{key: cut, name: Cut, duration_minutes: 30, price: 10, "
	for written, want := range map[string]string{
		service + "bufferAfterMinutes: 5}]\n":  "did you mean buffer_after_minutes?",
		service + "Description: x}]\n":         "did you mean description_html?",
		service + "descripton: x}]\n":          "did you mean description_html?",
		service + "duration: 5}]\n":            "did you mean duration_minutes?",
		"Staff: []\n":                          "did you mean staff?",
		service + "nothing_of_the_kind: 5}]\n": "the fields are ",
	} {
		problems := parseProblems(minimal + written)
		if len(problems) != 1 || !strings.Contains(problems[0], want) {
			t.Errorf("%s: %q, want %q", written, problems, want)
		}
	}
}

func TestHintsNameSimilarZoneAndCurrency(t *testing.T) {
	t.Parallel()
	for written, want := range map[string]string{
		"europe/lisbon": "did you mean Europe/Lisbon?", "Lisbon": "did you mean Europe/Lisbon?",
		"Europe/Lisboa":    "did you mean Europe/Lisbon?",
		"America/New York": "did you mean America/New_York?", "nowhere at all": "write an IANA name",
		strings.Repeat("x", 100): "write an IANA name",
	} {
		if err := new(Timezone).UnmarshalText([]byte(written)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", written, err, want)
		}
	}
	for written, want := range map[string]string{
		"eur": "did you mean EUR?", "EURO": "did you mean EUR?", "€": "did you mean EUR?", "US$": "did you mean USD?",
		"GPB":   "did you mean GBP?",
		"Taler": "write one such as EUR", "": "write one such as EUR",
	} {
		if err := new(Currency).UnmarshalText([]byte(written)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", written, err, want)
		}
	}
}
