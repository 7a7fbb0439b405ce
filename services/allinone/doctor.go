package allinone

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"net/mail"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/sethvargo/go-envconfig"

	"github.com/slotmesh/slotmesh/libs/platform/build"
	"github.com/slotmesh/slotmesh/libs/platform/clock"
	"github.com/slotmesh/slotmesh/libs/platform/peer"
	"github.com/slotmesh/slotmesh/services/allinone/internal/backing"
	"github.com/slotmesh/slotmesh/services/front"
	"github.com/slotmesh/slotmesh/services/notifications"
)

const (
	checkTimeout    = 20 * time.Second // limit of a doctor's check that uses the network
	minDaysOfTLS    = 14               // a certificate with fewer days left should have been renewed
	maxBackupAge    = 48 * time.Hour   // age of the newest backup from which on the doctor warns
	minFreeBytes    = 1 << 30          // free space of the home below which the doctor reports a failure
	backupsFolder   = "backups"        // folder of the home with the backups
	backupExtension = ".backup"        // end of the names of backups
	maxClockError   = 2 * time.Second  // difference to the clock of PostgreSQL from which on the doctor warns
)

// doctor checks an installation on one machine and prints a line for each finding.
type doctor struct {
	cfg    Config
	env    envconfig.Lookuper
	out    io.Writer
	now    time.Time
	failed int
}

// Diagnose checks the settings, the home, the stores, the running process, mail, the public addresses, the clock and the
// backups. It changes nothing. It prints a line for each check, and after a problem the remedy. The error reports how
// many checks failed.
func Diagnose(ctx context.Context, env envconfig.Lookuper, out io.Writer) error {
	d := &doctor{env: env, out: out, now: clock.System().Now()}
	d.ok("version", build.Version())
	cfg, err := loadConfig(ctx, env)
	if err != nil {
		d.fail("settings", strings.TrimPrefix(err.Error(), "settings: "), "correct the settings")
		return d.result()
	}
	d.cfg = cfg
	for _, check := range []func(context.Context){d.checkSettings, d.checkSecrets, d.checkHome, d.checkStores,
		d.checkProcess, d.checkMail, d.checkMailRecords, d.checkPages, d.checkOwner, d.checkClock, d.checkBackups} {
		limited, cancel := context.WithTimeout(ctx, checkTimeout)
		check(limited)
		cancel()
	}
	return d.result()
}

func (d *doctor) result() error {
	if d.failed == 0 {
		return nil
	}
	return fmt.Errorf("failed checks: %d", d.failed)
}

func (d *doctor) ok(subject, text string) { d.print("ok", subject, text, "") }

func (d *doctor) warn(subject, text, remedy string) { d.print("warn", subject, text, remedy) }

func (d *doctor) fail(subject, text, remedy string) {
	d.failed++
	d.print("FAIL", subject, text, remedy)
}

func (d *doctor) print(level, subject, text, remedy string) {
	_, _ = fmt.Fprintf(d.out, "%-5s %-10s %s\n", level, subject, text)
	if remedy != "" {
		_, _ = fmt.Fprintf(d.out, "%-5s %-10s -> %s\n", "", "", remedy)
	}
}

// checkSettings loads the settings of all services, as a start does.
func (d *doctor) checkSettings(ctx context.Context) {
	opened, err := openPorts(ctx, Config{}) // free ports, because Slotmesh may be running
	if err != nil {
		d.fail("settings", err.Error(), "let this user open ports on loopback")
		return
	}
	defer func() { _ = opened.close() }()
	p := &Process{cfg: d.cfg, ports: opened, PeerSecrets: peer.NewSecrets(partNames()...), linkSecret: newToken(),
		adminTokens: cmp.Or(d.cfg.AdminToken, newToken())}
	p.PublicURL, p.AdminURL = opened.findURL(frontName), opened.findURL(consoleName)
	if err := p.checkSettings(ctx); err != nil {
		d.fail("settings", strings.TrimPrefix(err.Error(), "settings: "), "correct the settings")
		return
	}
	d.ok("settings", "valid")
}

// mountedSecrets is the folder in which container engines mount secrets, readable by all users of the container.
const mountedSecrets = "/run/secrets/"

// checkSecrets checks that other users cannot read the files with secrets.
func (d *doctor) checkSecrets(context.Context) {
	for _, name := range listSecrets() {
		path, _ := d.env.Lookup(name + "_FILE")
		if path == "" || strings.HasPrefix(path, mountedSecrets) {
			continue
		}
		if info, err := os.Stat(path); err == nil && info.Mode().Perm()&0o004 != 0 {
			d.warn("secrets", fmt.Sprintf("other users may read %s (%s_FILE)", path, name), "chmod o-r "+path)
		}
	}
}

func (d *doctor) checkHome(context.Context) {
	home := d.cfg.Home
	info, err := os.Stat(home)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		d.warn("home", home+" does not exist", "the first start makes it; check SLOTMESH_HOME if there was one")
		return
	case err != nil:
		d.fail("home", err.Error(), "run doctor as the user that runs Slotmesh, such as sudo -u slotmesh slotmesh doctor …")
		return
	}
	if info.Mode().Perm()&0o077 != 0 {
		d.warn("home", "other users may enter or read "+home, "chmod 700 "+home)
	}
	file, err := os.CreateTemp(home, ".doctor-")
	if err != nil {
		d.fail("home", "this user cannot write to "+home,
			"run doctor as the user that runs Slotmesh, or give the folder to that user by chown -R")
		return
	}
	_ = errors.Join(file.Close(), os.Remove(file.Name()))
	free, err := findFreeBytes(home)
	switch {
	case err != nil:
		d.warn("home", "the free space of "+home+" cannot be read: "+err.Error(), "check it by df -h")
	case free < minFreeBytes:
		d.fail("home", fmt.Sprintf("%s has only %d MB of free space", home, free>>20), "free or add space")
	default:
		d.ok("home", fmt.Sprintf("%s, %d MB free", home, free>>20))
	}
}

func (d *doctor) checkStores(ctx context.Context) {
	text, err := backing.Check(ctx, backing.Options{Home: d.cfg.Home, DatabaseURL: d.cfg.DatabaseURL,
		RedisURL: d.cfg.RedisURL})
	if err != nil {
		d.fail("stores", err.Error(), "start or install the store, or correct its URL")
		return
	}
	d.ok("stores", text)
}

func (d *doctor) checkProcess(ctx context.Context) {
	const remedy = "look into the log: journalctl -u slotmesh, or docker compose logs slotmesh"
	text, err := readReadiness(ctx, d.cfg)
	if _, ok := errors.AsType[*notReadyError](err); ok {
		d.fail("process", err.Error(), remedy)
		return
	}
	if err != nil {
		d.warn("process", err.Error(), remedy)
		return
	}
	d.ok("process", strings.ReplaceAll(text, "\n", "; "))
}

func (d *doctor) checkMail(ctx context.Context) {
	if d.cfg.SMTPURL == "" {
		d.warn("mail", "no mail is sent, because SMTP_URL is not set", "set SMTP_URL and MAIL_FROM")
		return
	}
	allowsPlaintext, _ := strconv.ParseBool(d.cfg.SMTPAllowPlaintext) // the check of the settings reports the error
	if err := notifications.CheckMail(ctx, d.cfg.SMTPURL, d.cfg.MailFrom, allowsPlaintext); err != nil {
		d.fail("mail", "the mail server accepts no session: "+err.Error(), "correct SMTP_URL, or the mail server")
	} else {
		d.ok("mail", "the mail server accepts a session")
	}
}

// checkMailRecords checks the records in DNS with which other mail servers check the sender's domain.
func (d *doctor) checkMailRecords(ctx context.Context) {
	sender, err := mail.ParseAddress(d.cfg.MailFrom)
	if err != nil {
		return // mail is not set, or the check of the settings reports it
	}
	_, domain, _ := strings.Cut(sender.Address, "@")
	for name, prefix := range map[string]string{domain: "v=spf1", "_dmarc." + domain: "v=DMARC1"} {
		texts, err := net.DefaultResolver.LookupTXT(ctx, name)
		isRecord := func(text string) bool { return strings.HasPrefix(text, prefix) }
		if err != nil && !isNotFound(err) {
			d.warn("mail", "the records of "+name+" could not be checked: "+err.Error(), "check the resolver of this machine")
		} else if !slices.ContainsFunc(texts, isRecord) {
			d.warn("mail", fmt.Sprintf("DNS has no record %s at %s, so mail may count as spam", prefix, name),
				"add the record that your mail provider names")
		}
	}
}

func (d *doctor) checkPages(ctx context.Context) {
	d.checkAddress(ctx, "PAGES_URL", d.cfg.PagesURL, front.HealthPath)
}

func (d *doctor) checkOwner(ctx context.Context) {
	d.checkAddress(ctx, "OWNER_URL", d.cfg.OwnerURL, "/sign-in") // only the console has this path
}

// isNotFound reports whether DNS answered that there is no such name or record.
func isNotFound(err error) bool {
	failed, ok := errors.AsType[*net.DNSError](err)
	return ok && failed.IsNotFound
}

// checkAddress checks a public address: its name in DNS, its certificate, and an answer at the path `path`.
func (d *doctor) checkAddress(ctx context.Context, setting, base, path string) {
	if base == "" {
		d.warn(setting, "it is not set, so links lead to this machine's loopback address",
			"set it to the address at which people reach Slotmesh, such as https://book.example.com")
		return
	}
	u, err := url.Parse(base)
	if err != nil || u.Hostname() == "" {
		return // the check of the settings reports it
	}
	if u.Scheme != "https" {
		d.warn(setting, base+" is without TLS", "put a proxy with TLS before Slotmesh, such as Caddy or nginx")
	}
	if _, err := net.DefaultResolver.LookupHost(ctx, u.Hostname()); isNotFound(err) {
		d.fail(setting, "DNS does not know "+u.Hostname(), "add an A or AAAA record with the address of this machine")
		return
	} else if err != nil {
		d.warn(setting, u.Hostname()+" could not be checked: "+err.Error(), "check the resolver of this machine")
		return
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, strings.TrimSuffix(base, "/")+path, nil)
	if err != nil {
		return
	}
	client := http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	answer, err := client.Do(r)
	if err != nil {
		d.fail(setting, describeAnswerError(err), "check the proxy, its certificate and the firewall")
		return
	}
	_ = answer.Body.Close()
	if answer.StatusCode >= http.StatusBadRequest {
		d.fail(setting, fmt.Sprintf("%s answers %s", r.URL, answer.Status),
			"let the proxy forward this address to Slotmesh, and check whether Slotmesh runs")
		return
	}
	d.reportCertificate(setting, base, answer.TLS)
}

func (d *doctor) reportCertificate(setting, base string, connection *tls.ConnectionState) {
	if connection == nil {
		d.ok(setting, base+" answers")
		return
	}
	end := connection.PeerCertificates[0].NotAfter
	if days := int(end.Sub(d.now).Hours() / 24); days < minDaysOfTLS {
		d.warn(setting, fmt.Sprintf("the certificate of %s ends in %d days", base, days), "renew the certificate")
		return
	}
	d.ok(setting, fmt.Sprintf("%s answers; its certificate ends on %s", base, end.Format(time.DateOnly)))
}

func describeAnswerError(err error) string {
	if failed, ok := errors.AsType[*url.Error](err); ok {
		return failed.URL + ": " + failed.Err.Error()
	}
	return err.Error()
}

func (d *doctor) checkClock(ctx context.Context) {
	if d.cfg.Now != "" {
		d.warn("clock", "SLOTMESH_NOW sets another time", "leave the setting out")
		return
	}
	if err := checkClockSync(); err != nil {
		d.warn("clock", err.Error(), "install chrony or systemd-timesyncd, and check it by timedatectl")
		return
	}
	if d.cfg.DatabaseURL != "" {
		before := clock.System().Now()
		other, err := backing.ReadClock(ctx, d.cfg.DatabaseURL)
		if err != nil {
			return // the check of the stores reports it
		}
		if other.Before(before.Add(-maxClockError)) || other.After(clock.System().Now().Add(maxClockError)) {
			d.warn("clock", "PostgreSQL's clock differs from that of this machine: "+other.UTC().Format(time.RFC3339),
				"synchronise both clocks by NTP")
			return
		}
	}
	d.ok("clock", d.now.UTC().Format(time.RFC3339))
}

func (d *doctor) checkBackups(context.Context) {
	const remedy = "back up every day, such as by slotmesh-backup.timer, and copy the files to another machine"
	folder := cmp.Or(d.cfg.Backups, filepath.Join(d.cfg.Home, backupsFolder))
	files, err := filepath.Glob(filepath.Join(folder, "*"+backupExtension))
	var newest time.Time
	for _, file := range files {
		if info, err := os.Stat(file); err == nil && info.ModTime().After(newest) {
			newest = info.ModTime()
		}
	}
	switch age := d.now.Sub(newest); {
	case err != nil || newest.IsZero():
		d.warn("backups", "there is no file *"+backupExtension+" in "+folder, remedy)
	case age > maxBackupAge:
		d.warn("backups", fmt.Sprintf("the newest of %s is %d hours old", folder, int(age.Hours())), remedy)
	default:
		d.ok("backups", fmt.Sprintf("%d in %s; the newest is of %s", len(files), folder,
			newest.UTC().Format(time.RFC3339)))
	}
}
