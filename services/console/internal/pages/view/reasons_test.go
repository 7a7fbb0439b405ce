package view

import (
	"go/ast"
	"go/parser"
	"go/token"
	"strconv"
	"strings"
	"testing"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/contracts/availability"
	"github.com/slotmesh/slotmesh/libs/contracts/catalog"
	"github.com/slotmesh/slotmesh/libs/testkit/inputs"
	"github.com/slotmesh/slotmesh/libs/values/message/words"
	"github.com/slotmesh/slotmesh/libs/values/timespan"
	"github.com/slotmesh/slotmesh/services/console/internal/identity/access"
	"github.com/slotmesh/slotmesh/services/console/internal/pages/texts"
)

// readEngineRules returns the values of the constants Rule… in the source of the availability contract.
func readEngineRules(t *testing.T) []string {
	t.Helper()
	inputs.Checkout("libs")
	file, err := parser.ParseFile(token.NewFileSet(), "../../../../../libs/contracts/availability/explain.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	var rules []string
	ast.Inspect(file, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if !ok || len(spec.Values) != 1 || !strings.HasPrefix(spec.Names[0].Name, "Rule") {
			return true
		}
		rule, err := strconv.Unquote(spec.Values[0].(*ast.BasicLit).Value)
		if err != nil {
			t.Fatal(err)
		}
		rules = append(rules, rule)
		return false
	})
	if len(rules) < 20 {
		t.Fatalf("the engine has the rules %v", rules)
	}
	return rules
}

// newPageIn returns an owner's page in a language, and its business with one member, one service and one class.
func newPageIn(t *testing.T, language string) (*Page, *catalog.Snapshot) {
	t.Helper()
	sentences, err := texts.Load()
	if err != nil {
		t.Fatal(err)
	}
	offer := &catalog.Snapshot{
		Timezone: "Europe/Lisbon", Currency: "EUR", Staff: []catalog.Staff{{ID: uuid.New(), Key: "ines", Name: "Inês"}},
		Services: []catalog.Service{{ID: uuid.New(), Key: "cut", Name: "Cut"},
			{ID: uuid.New(), Key: "yoga", Name: "Yoga", Classes: []catalog.ClassSession{{ID: uuid.New()}}}},
	}
	if err := offer.Prepare(); err != nil {
		t.Fatal(err)
	}
	return &Page{Words: words.In(sentences, language), Business: offer, May: func(access.Action) bool {
		return true
	}}, offer
}

func TestExplainReasonCoversEveryRuleAndLanguage(t *testing.T) {
	t.Parallel()
	date, _ := timespan.ParseDate("2027-03-02")
	from, to := timespan.LocalDateTime{Date: date, Time: 600}, timespan.LocalDateTime{Date: date, Time: 645}
	sentences, err := texts.Load()
	if err != nil {
		t.Fatal(err)
	}
	for _, language := range sentences.Languages() {
		p, _ := newPageIn(t, language)
		said := map[string]string{}
		for _, rule := range readEngineRules(t) {
			for _, whose := range []string{"", availability.OfBusiness, availability.OfStaff} {
				for _, member := range []string{"", "Inês"} {
					r := availability.Reason{
						Rule: rule, Whose: whose, StaffName: member, Name: "Yoga", Date: &date, From: &from, To: &to,
						Minutes: 15, Booked: 3, Offered: 2, Message: "as the engine says it",
					}
					sentence := p.ExplainReason(r)
					if other, twice := said[sentence]; twice && other != rule || sentence == "" ||
						sentence == r.Message || strings.Contains(sentence, "no value") {
						t.Errorf("%s: %s of %q, %q: %q, as of %q", language, rule, whose, member, sentence, other)
					}
					said[sentence] = rule
					// This reason has only the required fields. If its sentence fails, p.Words.Fault below returns the
					// error.
					p.ExplainReason(availability.Reason{Rule: rule, Whose: whose, StaffName: member})
				}
			}
		}
		if err := p.Words.Fault(); err != nil {
			t.Errorf("%s: %v", language, err)
		}
	}
	p, _ := newPageIn(t, "en")
	if got := p.ExplainReason(availability.Reason{Rule: "weather", Message: "It rains."}); got != "It rains." {
		t.Errorf("an unknown rule: %q", got)
	}
}

// TestFindRemedyLinksToForm shows that each reason why a time cannot be booked links to the page that changes
// the cause. A person who may not change the offer gets no link.
func TestFindRemedyLinksToForm(t *testing.T) {
	t.Parallel()
	p, offer := newPageIn(t, "en")
	ines, cut, yoga := &offer.Staff[0].ID, &offer.Services[0], &offer.Services[1]
	for want, reasons := range map[string][]availability.Reason{
		"": {{Rule: availability.RulePast}, {Rule: availability.RuleSubscription},
			{Rule: availability.RuleRemoval}, {Rule: availability.RuleBooking}, {Rule: availability.RuleNoSuchTime}},
		"/pause":          {{Rule: availability.RulePaused}},
		"/offer/policies": {{Rule: availability.RuleNotice}, {Rule: availability.RuleAdvanceLimit}},
		"/offer/hours": {{Rule: availability.RuleClosed, Whose: availability.OfBusiness},
			{Rule: availability.RuleOverride, Whose: availability.OfBusiness},
			{Rule: availability.RuleBlock, Whose: availability.OfStaff, StaffID: ines}},
		"/offer/team": {{Rule: availability.RuleClosed, Whose: availability.OfStaff},
			{Rule: availability.RuleInactive, Whose: availability.OfStaff}},
		"/offer/team/ines": {{Rule: availability.RuleClosed, Whose: availability.OfStaff, StaffID: ines},
			{Rule: availability.RuleOverride, Whose: availability.OfStaff, StaffID: ines}},
		"/offer/services/cut": {{Rule: availability.RuleGrid}, {Rule: availability.RuleBuffer},
			{Rule: availability.RuleInactive, Name: "Cut"},
			{Rule: availability.RuleNotPerformed, Whose: availability.OfStaff, StaffID: ines}},
		"/offer/classes/yoga": {{Rule: availability.RuleClass, Whose: availability.OfStaff, StaffID: ines,
			Name: "Yoga"}},
		"/offer/classes/yoga ": {{Rule: availability.RuleClassFull}, {Rule: availability.RuleNoSession}},
	} {
		requested := cut
		if strings.HasSuffix(want, " ") {
			requested = yoga
		}
		for _, r := range reasons {
			if got := p.findRemedy(r, requested); got.path != strings.TrimSpace(want) || got.path != "" &&
				got.name == "" {
				t.Errorf("%+v leads to %+v, want %q", r, got, want)
			}
		}
	}
	p.May = func(a access.Action) bool { return a != access.ChangeOffer }
	for _, rule := range readEngineRules(t) {
		if got := p.findRemedy(availability.Reason{Rule: rule, Whose: availability.OfStaff, StaffID: ines},
			cut); got.path != "" {
			t.Errorf("a person who may not change the offer gets the link %+v", got)
		}
	}
}
