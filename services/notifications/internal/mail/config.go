package mail

import (
	"errors"
	"fmt"
	"net/mail"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"time"

	"golang.org/x/net/idna"
)

// Config holds the settings for sending mail.
type Config struct {
	// URL is the URL of the SMTP server. smtp://user:password@mail.example.com:587 requires STARTTLS, and the default
	// port is 587. smtps:// uses TLS from the first byte, and the default port is 465. If URL is empty, messages are
	// stored and shown to owners, but not sent.
	URL string `env:"SMTP_URL" secret:"true"`
	// IsPreview means that the server at URL only shows messages and does not deliver them. Messages that this server
	// accepts therefore count as not sent.
	IsPreview bool `env:"SMTP_PREVIEW, default=false"`
	// AllowPlaintext allows an smtp:// server that does not offer STARTTLS. Messages and the password are then sent
	// unencrypted. A server at a loopback address does not need this setting.
	AllowPlaintext bool `env:"SMTP_ALLOW_PLAINTEXT, default=false"`
	// Timeout limits the time for connecting, TLS and authentication together. The transfer of the message, which
	// follows, has a separate limit of the same length.
	Timeout time.Duration `env:"SMTP_TIMEOUT, default=20s"`
	// From is the address of the sender, such as no-reply@example.com; the display name is the name of the business.
	// Replies go to the business's reply_to address.
	From string `env:"MAIL_FROM"`
}

// IsEnabled reports whether a mail server is configured.
func (c *Config) IsEnabled() bool { return c.URL != "" }

// Validate checks all settings and returns the errors together. Each error names its environment variable. No error
// contains the URL, because the URL may contain a password.
func (c *Config) Validate() error {
	var errs []error
	if c.Timeout <= 0 {
		errs = append(errs, errors.New("SMTP_TIMEOUT: write a duration above 0, such as 20s"))
	}
	if c.From != "" {
		if _, _, err := splitAddress(c.From); err != nil {
			errs = append(errs, errors.New("MAIL_FROM: write one bare address, such as no-reply@example.com; the "+
				"name is each business's"))
		}
	}
	if !c.IsEnabled() {
		return errors.Join(errs...)
	}
	if _, err := parseURL(c.URL); err != nil {
		errs = append(errs, fmt.Errorf("SMTP_URL: %w", err))
	}
	if c.From == "" {
		errs = append(errs, errors.New("MAIL_FROM: with SMTP_URL, write the address that messages come from, such as "+
			"no-reply@example.com"))
	}
	return errors.Join(errs...)
}

// server is a parsed SMTP URL.
type server struct {
	host           string
	port           int
	implicitTLS    bool
	user, password string
}

const (
	submissionPort    = 587 // RFC 6409
	submissionTLSPort = 465 // RFC 8314
)

var errURL = errors.New("write smtp://user:password@host:587 or smtps://user:password@host:465, with signs of user " +
	"and password that a URL has no place for as %XX")

func parseURL(text string) (server, error) {
	u, err := url.Parse(text)
	if err != nil || u.Hostname() == "" || u.RawQuery != "" || u.Fragment != "" || strings.Trim(u.Path, "/") != "" {
		return server{}, errURL
	}
	s := server{host: u.Hostname(), port: submissionPort, user: u.User.Username()}
	s.password, _ = u.User.Password()
	switch u.Scheme {
	case "smtp":
	case "smtps":
		s.implicitTLS, s.port = true, submissionTLSPort
	default:
		return server{}, errURL
	}
	if text := u.Port(); text != "" {
		port, err := strconv.Atoi(text)
		if err != nil || port < 1 || port > 65535 {
			return server{}, errors.New("the port is a number from 1 to 65535")
		}
		s.port = port
	}
	if (s.user == "") != (s.password == "") {
		return server{}, errors.New("write user and password, or neither")
	}
	return s, nil
}

// isLocal reports whether the server is at a loopback address of this machine. Traffic to such an address does not
// leave the machine.
func (s server) isLocal() bool {
	if s.host == "localhost" {
		return true
	}
	ip, err := netip.ParseAddr(s.host)
	return err == nil && ip.Unmap().IsLoopback()
}

// splitAddress splits an address without a display name into its local part and its domain in ASCII.
func splitAddress(address string) (string, string, error) {
	parsed, err := mail.ParseAddress(address)
	if err != nil || parsed.Name != "" || parsed.Address != address {
		return "", "", errors.New("not one bare e-mail address")
	}
	at := strings.LastIndexByte(address, '@')
	domain, err := idna.Lookup.ToASCII(address[at+1:])
	if err != nil {
		return "", "", errors.New("not a domain that mail can be sent to")
	}
	return address[:at], domain, nil
}
