package letter

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/slotmesh/slotmesh/libs/testkit"
)

// intlScript formats dates, times and money with Intl of JavaScript, which uses CLDR data.
const intlScript = `
const asked = JSON.parse(require("fs").readFileSync(0));
console.log(JSON.stringify(asked.map(({language, moment, zone, amount, currency}) => {
	const at = new Date(moment), greg = language + "-u-ca-gregory";
	return {
		date: at.toLocaleDateString(greg, {dateStyle: "full", timeZone: zone}),
		time: at.toLocaleTimeString(language, {timeStyle: "short", timeZone: zone}),
		money: Number(amount).toLocaleString(language, {style: "currency", currency, currencyDisplay: "narrowSymbol"}),
		money2: Number(amount).toLocaleString(language, {style: "currency", currency}),
	};
})));`

type formatCase struct {
	Language string    `json:"language"`
	Moment   time.Time `json:"moment"`
	Zone     string    `json:"zone"`
	Amount   string    `json:"amount"`
	Currency string    `json:"currency"`
}

// TestWordsMatchIntl compares dates, times and amounts in all languages with Intl of Node.js.
func TestWordsMatchIntl(t *testing.T) {
	t.Parallel()
	programs := testkit.InstallNode(t)
	var cases []formatCase
	for code := range languageScripts {
		for month := range 12 {
			moment := time.Date(2026, time.Month(month+1), 1+2*month, 2*month, 5*month, 0, 0, time.UTC)
			cases = append(cases, formatCase{convertCode(code), moment, "Europe/Lisbon", fmt.Sprintf("%d234.50", month),
				"EUR"},
				formatCase{convertCode(code), moment.AddDate(0, 0, 3), "Asia/Kathmandu", "0.05", "USD"})
		}
	}
	input, err := json.Marshal(cases)
	if err != nil {
		t.Fatal(err)
	}
	run := programs.Script(t, intlScript, input)
	var answers []struct{ Date, Time, Money, Money2 string }
	if err := json.Unmarshal([]byte(run.Stdout), &answers); err != nil || len(answers) != len(cases) {
		t.Fatalf("%v: %s", err, run.Stderr)
	}
	for i, q := range cases {
		w := mustFindWords(t, strings.SplitN(q.Language, "-", 2)[0])
		zone, err := time.LoadLocation(q.Zone)
		if err != nil {
			t.Fatal(err)
		}
		at := q.Moment.In(zone)
		if got, want := w.Date(at), answers[i].Date; !isAlike(got, want) {
			t.Errorf("%s: the date is %q, want %q", q.Language, got, want)
		}
		if got, want := w.Clock(at), answers[i].Time; !isAlike(got, want) && w.Code != "ko" {
			t.Errorf("%s: the time is %q, want %q", q.Language, got, want)
		}
		if got := w.formatAmount(Money{q.Amount, q.Currency}); !isAlike(got, answers[i].Money) &&
			!isAlike(got, answers[i].Money2) {
			t.Errorf("%s: the amount is %q, want %q or %q", q.Language, got, answers[i].Money, answers[i].Money2)
		}
	}
}

func convertCode(code string) string {
	if code == "pt" {
		return "pt-PT"
	}
	return code
}

// isAlike compares two texts without regard to case and kinds of spaces, in which versions of CLDR
// differ.
func isAlike(a, b string) bool { return simplify(a) == simplify(b) }

func simplify(s string) string {
	return strings.ToLower(strings.Join(strings.FieldsFunc(s, func(r rune) bool {
		return r == ' ' || r == '\u00a0' || r == '\u202f' || r == '\u200f' || r == '\u200e' || r == '\u061c'
	}), " "))
}
