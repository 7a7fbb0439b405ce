package allinone

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"strings"

	"github.com/redis/go-redis/v9"
	"github.com/sethvargo/go-envconfig"
	"go.opentelemetry.io/otel"

	"github.com/slotmesh/slotmesh/libs/platform/build"
)

// Run is the command without arguments. It reads the settings from `env` and starts Slotmesh. It then prints to `out`
// the commands that a person can try. When ctx ends, Run stops Slotmesh. The error is one sentence.
func Run(ctx context.Context, env envconfig.Lookuper, out io.Writer) error {
	cfg, err := loadConfig(ctx, env)
	if err != nil {
		return err
	}
	if cfg.Log == "" && isNotTerminal(out) {
		cfg.Log = logToStderr
	}
	return run(ctx, cfg, out)
}

// isNotTerminal reports whether `out` is a file that is not a terminal. In that case, a service manager or a container
// engine probably started this process and collects its output.
func isNotTerminal(out io.Writer) bool {
	file, ok := out.(*os.File)
	if !ok {
		return false
	}
	info, err := file.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice == 0
}

func run(ctx context.Context, cfg Config, out io.Writer) error {
	silenceLibraries()
	p, err := Start(ctx, cfg, newPrinter(out))
	if ctx.Err() != nil {
		return nil // ctx ended during the start
	}
	if err != nil {
		return err
	}
	if _, err := io.WriteString(out, p.greeting()); err != nil {
		return err
	}
	notifyManager("READY=1")
	var died error
	select {
	case died = <-p.Failed():
	case <-ctx.Done():
		_, _ = fmt.Fprintln(out, "\nStopping.")
	}
	notifyManager("STOPPING=1")
	if err := p.Stop(); err != nil && died == nil {
		return err
	}
	return died
}

// silenceLibraries turns off the output of two libraries with global loggers, because their lines would appear between
// the lines for the person at the terminal. The logs and the metrics of the services still report the failed calls.
func silenceLibraries() {
	redis.SetLogger(silentLogger{})
	otel.SetErrorHandler(otel.ErrorHandlerFunc(func(error) {}))
}

type silentLogger struct{}

// Printf discards a line of the Redis client's log.
func (silentLogger) Printf(context.Context, string, ...any) {}

// greeting returns the text that the terminal shows after the start: the URLs, the first steps and the stores.
func (p *Process) greeting() string {
	var b strings.Builder
	b.WriteString("Slotmesh is running; Ctrl-C stops it.\n\n")
	if p.Demo != nil {
		fmt.Fprintf(&b, "  book     %s/b/%s (the demo business's page: open it in a browser)\n", p.PublicURL,
			p.Demo.Slug)
		fmt.Fprintf(&b, "  sign in  %s (as its owner: works once, for 15 minutes)\n", p.Demo.SignIn)
		fmt.Fprintf(
			&b,
			"  begin    %s (as an operator, who sets up another business: works once, for 15 minutes)\n",
			p.Demo.Begin,
		)
	}
	if p.Demo == nil {
		fmt.Fprintf(&b, "  begin    slotmesh users invite --server %s --email you@example.com --role operator "+
			"(prints a link that signs you in, and leads to your first business)\n", p.AdminURL)
	}
	fmt.Fprintf(&b, "  version  %s\n  public   %s\n  admin    %s\n", build.Release(), p.PublicURL, p.AdminURL)
	if p.cfg.AdminToken == "" {
		fmt.Fprintf(&b, "  token    %s (for the admin address)\n", p.file(TokenFile))
	}
	if p.MailURL != "" {
		fmt.Fprintf(&b, "  mail     %s (what would be mailed)\n", p.MailURL)
	}
	if p.OpsURL != "" {
		fmt.Fprintf(&b, "  ops      %s (/readyz and /metrics of all services)\n", p.OpsURL)
	}
	if host := net.ParseIP(p.cfg.host()); !host.IsLoopback() {
		fmt.Fprintf(&b, "  network  public and admin are reached at %s from other machines; sign in there by https, "+
			"through a proxy (OWNER_URL)\n", p.cfg.Host)
	}
	fmt.Fprintf(&b, "  stores   %s\n", p.describeStores())
	if log := p.file(LogFile); p.cfg.logsToStderr() {
		b.WriteString("  log      standard error\n")
	} else {
		fmt.Fprintf(&b, "  log      %s\n", log)
	}
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

// describeStores returns a sentence about the database and Redis that the process uses. The terminal shows it, because
// the person may have forgotten that the environment contains DATABASE_URL.
func (p *Process) describeStores() string {
	database, cache := "PostgreSQL of its own, with its data in "+p.stores.Data, "Redis of its own"
	if p.cfg.DatabaseURL != "" {
		database = "PostgreSQL" + describeAddress(p.cfg.DatabaseURL) + ", as DATABASE_URL of the environment says"
	}
	if p.cfg.RedisURL != "" {
		cache = "Redis" + describeAddress(p.cfg.RedisURL) + ", as REDIS_URL says"
	}
	return database + "; " + cache
}

// describeAddress returns the host and the path in the URL of a store, without the user and the password. If the
// argument `address` is not a URL, it returns "".
func describeAddress(address string) string {
	if u, err := url.Parse(address); err == nil && u.Host != "" {
		return " at " + u.Host + u.Path
	}
	return ""
}
