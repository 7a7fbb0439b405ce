package mutation

import (
	"strings"
	"testing"
)

const source = `package p

func isFree(start, end, now int) bool {
	if end <= now {
		return false
	}
	now = now + 30
	note(now)
	return start < end && start != now
}
`

func TestApplyMakesEachChangeOnce(t *testing.T) {
	n, err := Count("p.go", []byte(source))
	if err != nil {
		t.Fatal(err)
	}
	var changes []string
	for i := range n {
		m, err := Apply("p.go", []byte(source), i)
		if err != nil {
			t.Fatal(err)
		}
		if string(m.Source) == source {
			t.Errorf("mutation %d (%s) leaves the source unchanged", i, m.Change)
		}
		changes = append(changes, m.Change)
	}
	want := []string{
		"the condition by its negation", "<= by <", "the statement by nothing", "+ by -", "30 by 31",
		"the statement by nothing", "< by <=", "&& by ||", "!= by ==",
	}
	if got := strings.Join(changes, ", "); got != strings.Join(want, ", ") {
		t.Errorf("mutations are %s, want %s", got, strings.Join(want, ", "))
	}
}

func TestApplyRejectsUnknownNumber(t *testing.T) {
	if _, err := Apply("p.go", []byte(source), 9); err == nil || !strings.Contains(err.Error(), "has 9 mutations") {
		t.Errorf("error is %v, want one that names the 9 mutations", err)
	}
}
