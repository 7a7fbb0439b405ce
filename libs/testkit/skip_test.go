package testkit

import "testing"

// fakeTB records how a test ended.
type fakeTB struct {
	testing.TB
	how string
}

func (e *fakeTB) Helper()               {}
func (e *fakeTB) Skipf(string, ...any)  { e.how = "skipped" }
func (e *fakeTB) Fatalf(string, ...any) { e.how = "failed"; panic(e) } // like the real Fatalf, it does not return

func TestSkipOrFailFailsOnCI(t *testing.T) {
	for ci, want := range map[string]string{"": "skipped", "false": "skipped", "true": "failed"} {
		t.Setenv("CI", ci)
		e := &fakeTB{TB: t}
		func() {
			defer func() { _ = recover() }()
			SkipOrFail(e, "there is no moon here")
		}()
		if e.how != want {
			t.Errorf("with CI=%q, the test is %s, want %s", ci, e.how, want)
		}
	}
}
