package e2e

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/slotmesh/slotmesh/services/allinone"
)

// platform is the Slotmesh that tests share when the default settings suit them: starting one takes longer than most
// tests.
var platform sharedPlatform

// sharedPlatform starts with the first test that uses it and stops after the last test of the package.
type sharedPlatform struct {
	mu      sync.Mutex
	process *allinone.Process
	log     string
	after   lasting
	tests   map[string]string // the test that published a business, by its slug
}

// shared returns a client of the shared platform. The test may publish businesses that no other test publishes,
// changes nothing else, and stops no service.
func shared(t *testing.T) *world {
	t.Helper()
	if err := platform.start(); err != nil {
		t.Fatal(err)
	}
	w := newWorld(t, platform.process)
	w.isShared = true
	t.Cleanup(func() {
		w.http.CloseIdleConnections()
		if t.Failed() {
			showWarnings(t, platform.log)
		}
	})
	return w
}

func (p *sharedPlatform) start() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.process != nil {
		return nil
	}
	home, err := os.MkdirTemp("", "slotmesh-e2e-")
	if err != nil {
		return err
	}
	p.after.Cleanup(func() { _ = os.RemoveAll(home) })
	p.log = filepath.Join(home, allinone.LogFile)
	ctx, cancel := context.WithTimeout(context.Background(), startWithin)
	defer cancel()
	p.process, err = allinone.Start(ctx, defaults(&p.after, home), func(string) {})
	return err
}

// own fails a test that publishes a business of another test.
func (p *sharedPlatform) own(t *testing.T, slug string) {
	t.Helper()
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.tests == nil {
		p.tests = map[string]string{}
	}
	test, _, _ := strings.Cut(t.Name(), "/")
	if owner, taken := p.tests[slug]; taken && owner != test {
		t.Fatalf("the business %s belongs to %s: take another slug on the shared platform", slug, owner)
	}
	p.tests[slug] = test
}

// stop stops the platform, if a test has used it, and removes its database and files.
func (p *sharedPlatform) stop() error {
	var err error
	if p.process != nil {
		err = p.process.Stop()
	}
	for _, clean := range slices.Backward(p.after.cleanups) {
		clean()
	}
	if err == nil {
		err = p.after.failure
	}
	return err
}

// lasting stands for a test that ends after all others.
type lasting struct {
	testing.TB

	cleanups []func()
	failure  error
}

func (*lasting) Helper() {}

func (l *lasting) Cleanup(clean func()) { l.cleanups = append(l.cleanups, clean) }

func (l *lasting) Error(args ...any) {
	l.failure = fmt.Errorf("shared platform: %s", fmt.Sprint(args...))
}

func (l *lasting) Errorf(format string, args ...any) { l.Error(fmt.Sprintf(format, args...)) }

func (l *lasting) Fatal(args ...any) { panic(fmt.Sprint(args...)) }

func (l *lasting) Fatalf(format string, args ...any) { panic(fmt.Sprintf(format, args...)) }

func (*lasting) Context() context.Context { return context.Background() }
