package e2e

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/slotmesh/slotmesh/libs/platform/mailbox"
	"github.com/slotmesh/slotmesh/libs/testkit"
	"github.com/slotmesh/slotmesh/services/allinone"
)

// platform is the Slotmesh that tests share when the default settings suit them: starting one takes longer than most
// tests.
var platform sharedPlatform

// sharedPlatform starts with the first test that uses it and stops after the last test of the package.
type sharedPlatform struct {
	mu          sync.Mutex
	process     *allinone.Process
	log         string
	databaseURL string
	stripe      *cashier
	mock        *testkit.StripeMock // nil until a test needs it
	inbox       *inbox
	after       lasting
	tests       map[string]string // the test that published a business, by its slug
}

// shared returns a client of the shared platform. The test may publish businesses that no other test publishes,
// changes nothing else, and stops no service.
func shared(t *testing.T) *world {
	t.Helper()
	if err := platform.start(); err != nil {
		t.Fatal(err)
	}
	w := newWorld(t, platform.process)
	w.isShared, w.databaseURL, w.inbox = true, platform.databaseURL, platform.inbox
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
	cfg := defaults(&p.after, home)
	p.databaseURL = cfg.DatabaseURL
	cfg.DatabaseURL = recorded(&p.after, cfg.DatabaseURL)
	p.stripe = openCashier(&p.after, noStripe)
	p.stripe.connect(&cfg)
	loopback(&cfg)
	ctx, cancel := context.WithTimeout(context.Background(), startWithin)
	defer cancel()
	process, err := allinone.Start(ctx, cfg, func(string) {})
	if err != nil {
		return err
	}
	p.process, p.stripe.notices = process, process.PublicURL+"/api/public/stripe/webhook"
	p.inbox = openInbox(&p.after, process.Mailbox)
	return nil
}

// startStripe starts stripe-mock behind the shared platform's payment provider, for the tests that pay online.
// The returned server has the provider's pages.
func startStripe(t *testing.T) *cashier {
	t.Helper()
	platform.mu.Lock()
	defer platform.mu.Unlock()
	if platform.mock == nil {
		platform.mock = testkit.StartStripeMock(lastingTB{t, &platform.after})
		platform.stripe.connectMock(t, platform.mock.URL)
	}
	return platform.stripe
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
	l.failure = errors.Join(l.failure, fmt.Errorf("shared platform: %s", fmt.Sprint(args...)))
}

func (l *lasting) Errorf(format string, args ...any) { l.Error(fmt.Sprintf(format, args...)) }

func (l *lasting) Fatal(args ...any) { panic(fmt.Sprint(args...)) }

func (l *lasting) Fatalf(format string, args ...any) { panic(fmt.Sprintf(format, args...)) }

func (*lasting) Context() context.Context { return context.Background() }

// lastingTB is a test whose cleanups run after all tests of the package.
type lastingTB struct {
	testing.TB

	after *lasting
}

func (t lastingTB) Cleanup(clean func()) { t.after.Cleanup(clean) }

// inbox keeps all mails of a platform by recipient. The platform's own mailbox keeps the last 500 only, and tests
// that share a platform send more.
type inbox struct {
	mu      sync.Mutex
	to      map[string][]mailbox.Mail
	last    int           // id of the last mail
	changed chan struct{} // closed at the next mail
}

// openInbox collects the mails of a mailbox until the end of the test.
func openInbox(t testing.TB, box *mailbox.Box) *inbox {
	i := &inbox{to: map[string][]mailbox.Mail{}, changed: make(chan struct{})}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for {
			mails, err := box.Await(ctx, i.last+1)
			if err != nil {
				return
			}
			i.keep(mails)
		}
	}()
	t.Cleanup(func() {
		cancel()
		<-ended
	})
	return i
}

func (i *inbox) keep(mails []mailbox.Mail) {
	i.mu.Lock()
	defer i.mu.Unlock()
	for _, m := range mails {
		if m.ID > i.last {
			i.last = m.ID
			i.to[m.To[0]] = append(i.to[m.To[0]], m)
		}
	}
	close(i.changed)
	i.changed = make(chan struct{})
}

// mails returns the mails to an address, oldest first.
func (i *inbox) mails(to string) []mailbox.Mail {
	i.mu.Lock()
	defer i.mu.Unlock()
	return slices.Clone(i.to[to])
}

// await waits until n mails to an address have come, and returns them.
func (i *inbox) await(t *testing.T, to string, n int) []mailbox.Mail {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), testkit.MaxWait)
	defer cancel()
	for {
		i.mu.Lock()
		mails, changed := slices.Clone(i.to[to]), i.changed
		i.mu.Unlock()
		if len(mails) >= n {
			return mails
		}
		select {
		case <-changed:
		case <-ctx.Done():
			t.Fatalf("%d of %d mails to %s have come", len(mails), n, to)
		}
	}
}
