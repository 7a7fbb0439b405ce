package allinone

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/sethvargo/go-envconfig"

	"github.com/slotmesh/slotmesh/libs/platform/build"
	"github.com/slotmesh/slotmesh/libs/platform/zonefiles"
)

// usage is the help text of the command.
const usage = `Slotmesh in one process: every service, and stores of its own. Settings are variables of the environment.

  slotmesh-allinone                 start, until Ctrl-C
  slotmesh-allinone serve           the same
  slotmesh-allinone doctor          check settings, stores, mail, addresses, TLS, clock and backups
  slotmesh-allinone health          report whether all services are ready, at OPS_PORT
  slotmesh-allinone backup FILE     write all data to a new file, while it runs or not
  slotmesh-allinone restore FILE    fill an empty SLOTMESH_HOME, or DATABASE_URL, from such a file
  slotmesh-allinone resume-feed FEED   send messages on after events were lost; the log names the feed

` + Settings + `
  --help, --version    say this, or which build it is, and end
`

// Settings is the part of the help text that lists the settings. README.md describes the settings in full.
const Settings = `  PORT                 public address on this machine: pages, interface, /mcp (8080; 0: a free one)
  ADMIN_PORT           owner's pages and admin API (8090; 0: a free one)
  MAIL_PORT            shows the mail that would be sent, without SMTP_URL (8025 with the demo; 0: a free one)
  OPS_PORT             readiness and metrics of all services: /readyz, /metrics (not served)
  OPS_HOST             address at which OPS_PORT is opened (127.0.0.1)
  OPS_TOKEN            what /metrics asks for, as a bearer token; required if OPS_HOST is not a loopback address
  HOST                 address at which PORT and ADMIN_PORT are opened; 0.0.0.0: all of this machine (127.0.0.1)
  SLOTMESH_HOME        folder of everything that outlives the process (.slotmesh)
  SLOTMESH_BACKUPS     folder of the backups that doctor checks (backups in SLOTMESH_HOME)
  SLOTMESH_ADMIN_TOKEN what the admin API asks for (made once, kept in SLOTMESH_HOME)
  SLOTMESH_DEMO        false: no demo business
  SLOTMESH_INSTALL     yes: install missing packages (PostgreSQL, Redis) without a question, as with CI=true
  SLOTMESH_NOW         instant at which the clock starts, such as 2027-03-01T09:00:00Z
  DATABASE_URL         PostgreSQL to use instead of starting one
  REDIS_URL            Redis to use instead of starting one
  SMTP_URL, MAIL_FROM, SMTP_ALLOW_PLAINTEXT   the mail server
  STRIPE_SECRET_KEY, STRIPE_WEBHOOK_SECRET, STRIPE_API_BASE   connect Stripe
  PAGES_URL            public base of customers' links (the public address)
  OWNER_URL            base of the owner's side as people reach it (the admin address)
  PUBLIC_LIMIT_PER_MINUTE, ADMIN_WRONG_TOKENS_PER_MINUTE   limits by address (600, 10)
  ADMIN_LIMIT_PER_MINUTE   requests to the admin API by token (1200)
  TRUSTED_PROXIES      networks whose X-Forwarded-For, -Host and -Proto are believed, such as 10.0.0.0/8
  PEER_TIMEOUT         bound of a service's call to another (2s)
  OTEL_EXPORTER_OTLP_ENDPOINT   collector of traces, such as http://127.0.0.1:4318
  LOG                  stderr, or file: slotmesh.log in SLOTMESH_HOME (file on a terminal, otherwise stderr)
  LOG_LEVEL            debug, info, warn or error (info)
  GOMEMLIMIT           what Go's garbage collector keeps below, such as 512MiB

Every other setting of a service reaches it, such as OIDC_ISSUER, MCP_ORIGINS or BOOKING_IP_LIMIT_PER_MINUTE; the services' READMEs list them.
A secret can be in a file: DATABASE_URL_FILE names the file with the value of DATABASE_URL.
`

// actions are the functions of the command's actions without an argument, by name. argumentActions are those with an
// argument, which is the path of a file or the name of a feed.
var (
	actions = map[string]func(ctx context.Context, env envconfig.Lookuper, out io.Writer) error{
		"serve": Run, "doctor": Diagnose, "health": CheckHealth,
	}
	argumentActions = map[string]func(ctx context.Context, env envconfig.Lookuper, argument string, out io.Writer) error{
		"backup": Backup, "restore": Restore, "resume-feed": ResumeFeed,
	}
)

// Do runs the action in the command's arguments, which [HandleArguments] or the slotmesh command must have accepted.
// Without arguments, it runs Slotmesh until ctx ends. The error is one sentence.
func Do(ctx context.Context, args []string, env envconfig.Lookuper, out io.Writer) error {
	if len(args) == 0 {
		return Run(ctx, env, out)
	}
	if do, ok := actions[args[0]]; ok {
		return do(ctx, env, out)
	}
	return argumentActions[args[0]](ctx, env, args[1], out)
}

// HandleArguments handles the command's arguments before the start. HandleArguments reports whether the program should
// exit afterwards. If an argument is unknown or missing, it returns an error, because a mistyped command must not start
// a server.
func HandleArguments(args []string, out io.Writer) (bool, error) {
	if len(args) == 0 {
		return false, nil
	}
	switch args[0] {
	case "--help", "-help", "-h", "help":
		_, err := io.WriteString(out, usage)
		return true, err
	case "--version", "-version", "version":
		_, err := fmt.Fprintf(out, "slotmesh %s\nzones %s\n", build.Version(),
			zonefiles.Describe(os.Getenv("ZONE_DATA")))
		return true, err
	}
	if _, is := actions[args[0]]; is {
		if len(args) != 1 {
			return true, fmt.Errorf("%s takes no arguments; read --help", args[0])
		}
		return false, nil
	}
	if _, is := argumentActions[args[0]]; is {
		if len(args) != 2 || args[1] == "" || strings.HasPrefix(args[1], "-") {
			return true, fmt.Errorf("%s takes one argument; read --help", args[0])
		}
		return false, nil
	}
	return true, fmt.Errorf("%q is not an argument; settings are variables of the environment, which --help lists",
		args[0])
}
