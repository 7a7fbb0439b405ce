package testkit

import "testing"

// ended is a test that notes how it was ended.
type ended struct {
	testing.TB
	how string
}

func (e *ended) Helper()               {}
func (e *ended) Skipf(string, ...any)  { e.how = "skipped" }
func (e *ended) Fatalf(string, ...any) { e.how = "failed"; panic(e) } // as the real one, it does not return

func TestWhatIsMissingFailsOnCIAloneAndIsSkippedElsewhere(t *testing.T) {
	for ci, want := range map[string]string{"": "skipped", "false": "skipped", "true": "failed"} {
		t.Setenv("CI", ci)
		e := &ended{TB: t}
		func() {
			defer func() { _ = recover() }()
			SkipOrFail(e, "there is no moon here")
		}()
		if e.how != want {
			t.Errorf("with CI=%q the test is %s, want %s", ci, e.how, want)
		}
	}
}
