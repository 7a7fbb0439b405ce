package testkit

import (
	"bufio"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"
)

// StripeMockPath is the environment variable with the path of stripe-mock. `make test` builds this program.
const StripeMockPath = "SLOTMESH_TEST_STRIPE_MOCK"

// StripeMock is a running stripe-mock. If the specification of Stripe's API permits a request, stripe-mock answers with
// an example. It stores nothing.
type StripeMock struct {
	URL  string
	stop func()
}

// Stop ends stripe-mock, so that a test can simulate an unavailable payment provider.
func (m *StripeMock) Stop() { m.stop() }

// StartStripeMock runs stripe-mock on a free port until the test ends.
func StartStripeMock(t testing.TB) *StripeMock {
	t.Helper()
	cmd := exec.Command(lookup(t, StripeMockPath), "-http-addr", "127.0.0.1:0", "-https-addr", "127.0.0.1:0")
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		t.Fatalf("%s: %v", StripeMockPath, err)
	}
	address := make(chan string, 1)
	read := make(chan struct{})
	go func() {
		defer close(read)
		for lines := bufio.NewScanner(out); lines.Scan(); {
			if _, at, ok := strings.Cut(lines.Text(), "Listening for HTTP at address: "); ok {
				address <- at
			}
		}
	}()
	m := &StripeMock{stop: sync.OnceFunc(func() {
		_ = cmd.Process.Kill() // the process may have ended already
		<-read
		_ = cmd.Wait() // returns an error, because the process was killed
	})}
	t.Cleanup(m.stop)
	select {
	case at := <-address:
		m.URL = "http://" + at
	case <-read:
		t.Fatal("stripe-mock ended before it listened")
	case <-time.After(MaxWait):
		t.Fatalf("stripe-mock does not listen after %s", MaxWait)
	}
	return m
}
