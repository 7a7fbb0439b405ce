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

// sharedInstance is the platform of all tests that need no other settings and stop no service. The start of a platform
// takes longer than most tests.
var sharedInstance sharedPlatform

// sharedPlatform starts when the first test uses it and stops after all tests of the package. Its Stripe is
// [fakeStripe], its webhooks may go to this machine, and all of its statements are checked (see [checkRouting]).
type sharedPlatform struct {
	mu          sync.Mutex
	process     *allinone.Process
	log         string
	databaseURL string
	stripe      *fakeStripe
	mock        *testkit.StripeMock // nil until a test needs it
	inbox       *inbox
	after       packageTB
	tests       map[string]string // the test that published a business, by its slug
}

// sharePlatform returns a client of the shared platform, with its own client address. A test publishes businesses with
// slugs that no other test uses. It may change these businesses only and must not stop a service.
func sharePlatform(t *testing.T) *platform {
	t.Helper()
	if err := sharedInstance.start(); err != nil {
		t.Fatal(err)
	}
	w := newPlatform(t, sharedInstance.process)
	w.isShared, w.databaseURL, w.inbox = true, sharedInstance.databaseURL, sharedInstance.inbox
	t.Cleanup(func() {
		w.http.CloseIdleConnections()
		if t.Failed() {
			showWarnings(t, sharedInstance.log)
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
	cfg := newConfig(&p.after, home)
	p.databaseURL = cfg.DatabaseURL
	cfg.DatabaseURL = recordStatements(&p.after, cfg.DatabaseURL)
	p.stripe = startFakeStripe(&p.after, noStripe)
	p.stripe.connect(&cfg)
	allowLoopback(&cfg)
	ctx, cancel := context.WithTimeout(context.Background(), startTimeout)
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
func startStripe(t *testing.T) *fakeStripe {
	t.Helper()
	sharedInstance.mu.Lock()
	defer sharedInstance.mu.Unlock()
	if sharedInstance.mock == nil {
		sharedInstance.mock = testkit.StartStripeMock(lastingTest{t, &sharedInstance.after})
		sharedInstance.stripe.connectMock(t, sharedInstance.mock.URL)
	}
	return sharedInstance.stripe
}

// reserveSlug fails the test if another test has published a business with this slug.
func (p *sharedPlatform) reserveSlug(t *testing.T, slug string) {
	t.Helper()
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.tests == nil {
		p.tests = map[string]string{}
	}
	test, _, _ := strings.Cut(t.Name(), "/")
	if owner, isTaken := p.tests[slug]; isTaken && owner != test {
		t.Fatalf("the business %s belongs to %s: take another slug on the shared platform", slug, owner)
	}
	p.tests[slug] = test
}

// stop stops the platform if a test has started it, checks its statements, and removes its database and files.
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

// packageTB is a [testing.TB] for the whole package. Its cleanups run after all tests.
type packageTB struct {
	testing.TB

	cleanups []func()
	failure  error
}

func (*packageTB) Helper() {}

func (l *packageTB) Cleanup(clean func()) { l.cleanups = append(l.cleanups, clean) }

func (l *packageTB) Error(args ...any) {
	l.failure = errors.Join(l.failure, fmt.Errorf("shared platform: %s", fmt.Sprint(args...)))
}

func (l *packageTB) Errorf(format string, args ...any) { l.Error(fmt.Sprintf(format, args...)) }

func (l *packageTB) Fatal(args ...any) { panic(fmt.Sprint(args...)) }

func (l *packageTB) Fatalf(format string, args ...any) { panic(fmt.Sprintf(format, args...)) }

func (*packageTB) Context() context.Context { return context.Background() }

// lastingTest is a test whose cleanups run after all tests of the package.
type lastingTest struct {
	testing.TB

	after *packageTB
}

func (t lastingTest) Cleanup(clean func()) { t.after.Cleanup(clean) }

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
			t.Fatalf("only %d of %d mails to %s have arrived", len(mails), n, to)
		}
	}
}
