package allinone

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/redis/go-redis/v9"
	"github.com/sethvargo/go-envconfig"
	"go.opentelemetry.io/otel"

	"github.com/slotmesh/slotmesh/libs/config"
)

// Run is the whole command: settings from env, start, what to try on out, and a clean stop when ctx ends. Its error is
// one sentence.
func Run(ctx context.Context, env envconfig.Lookuper, out io.Writer) error {
	var cfg Config
	if err := config.Load(ctx, &cfg, env); err != nil {
		return err
	}
	quiet()
	p, err := Start(ctx, cfg, func(line string) { _, _ = fmt.Fprintln(out, line) })
	if ctx.Err() != nil {
		return nil // stopped while it started
	}
	if err != nil {
		return err
	}
	if _, err := io.WriteString(out, p.greeting()); err != nil {
		return err
	}
	var died error
	select {
	case died = <-p.Died():
	case <-ctx.Done():
		_, _ = fmt.Fprintln(out, "\nStopping.")
	}
	if err := p.Stop(); err != nil && died == nil {
		return err
	}
	return died
}

// quiet keeps two libraries, which log globally, from writing between the lines for the person at the terminal. What
// they would say shows in the services' logs as failed calls, and in their metrics.
func quiet() {
	redis.SetLogger(silent{})
	otel.SetErrorHandler(otel.ErrorHandlerFunc(func(error) {}))
}

type silent struct{}

// Printf drops a line.
func (silent) Printf(context.Context, string, ...any) {}

// greeting is what a person needs to begin.
func (p *Process) greeting() string {
	var b strings.Builder
	b.WriteString("Slotmesh is running; Ctrl-C stops it.\n\n")
	if p.Demo != nil {
		fmt.Fprintf(&b, "  book     %s/b/%s (the demo business's page: open it in a browser)\n", p.PublicURL, p.Demo.Slug)
		fmt.Fprintf(&b, "  sign in  %s (as its owner: works once, for 15 minutes)\n", p.Demo.SignIn)
	}
	fmt.Fprintf(&b, "  public   %s\n  admin    %s\n", p.PublicURL, p.AdminURL)
	if p.cfg.AdminToken == "" {
		fmt.Fprintf(&b, "  token    %s (for the admin address)\n", p.file(TokenFile))
	}
	if p.MailURL != "" {
		fmt.Fprintf(&b, "  mail     %s (what would be mailed)\n", p.MailURL)
	}
	fmt.Fprintf(&b, "  log      %s\n", p.file(LogFile))
	if p.Demo == nil {
		return b.String()
	}
	fmt.Fprintf(&b, "  demo     business %s, API key %s\n\nTry it:\n\n", p.Demo.Slug, p.Demo.Key)
	for _, line := range p.Demo.Try {
		b.WriteString("  " + line + "\n\n")
	}
	if len(p.Demo.Try) == 1 {
		b.WriteString("  (The demo business has no free time in the next weeks to book.)\n")
	}
	return b.String()
}
