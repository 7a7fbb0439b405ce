package mail

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"mime"
	"mime/multipart"
	"mime/quotedprintable"
	"net"
	"net/http/httptest"
	"net/mail"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/emersion/go-smtp"
	"github.com/google/go-cmp/cmp"

	"github.com/slotmesh/slotmesh/libs/platform/mailbox"
	"github.com/slotmesh/slotmesh/libs/testkit"
	"github.com/slotmesh/slotmesh/libs/testkit/leaks"
)

func TestMain(m *testing.M) { leaks.Verify(m) }

var writtenAt = time.Date(2027, time.March, 1, 9, 0, 0, 0, time.UTC)

func newMessage() Message {
	return Message{
		ID: "m1", Thread: "b1", Date: writtenAt, FromName: "Zoë's Studio", To: "ada@example.com",
		ReplyTo: "hello@harbor.example", Language: "ru",
		Subject: "Ваша запись – 09:00", Text: "Grüße,\nbis bald.\n.\nEnde\n", HTML: "<p>Grüße,<br>bis bald.</p>",
		Calendar: []byte("BEGIN:VCALENDAR\r\nMETHOD:REQUEST\r\nEND:VCALENDAR\r\n"), Method: "REQUEST",
	}
}

// newServerAndSender starts a test mail server on a loopback address. The URL of the sender is
// scheme://userinfo host:port.
func newServerAndSender(t *testing.T, scheme, userinfo, host string, options mailbox.Options,
	change ...func(*Config)) (*mailbox.Box, *Sender) {
	t.Helper()
	var listener net.Listener
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	port := listener.Addr().(*net.TCPAddr).Port
	if scheme == "smtps" {
		listener = tls.NewListener(listener, options.TLS)
		options.TLS = nil
	}
	box := mailbox.Open(listener, options)
	t.Cleanup(func() { _ = box.Close() })
	cfg := Config{URL: fmt.Sprintf("%s://%s%s:%d", scheme, userinfo, host, port), Timeout: testkit.MaxWait,
		From: "no-reply@slotmesh.example"}
	for _, c := range change {
		c(&cfg)
	}
	if err := cfg.Validate(); err != nil {
		t.Fatal(err)
	}
	sender, err := NewSender(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return box, sender
}

// part is a part of a MIME message that has no parts itself.
type part struct {
	Type, Method, File string
	Body               string
}

// parseMessage parses a message with the standard library.
func parseMessage(t testing.TB, raw []byte) (mail.Header, []part) {
	t.Helper()
	m, err := mail.ReadMessage(strings.NewReader(string(raw)))
	if err != nil {
		t.Fatalf("not a message: %v", err)
	}
	return m.Header, readParts(t, m.Header.Get("Content-Type"), m.Header.Get("Content-Transfer-Encoding"), "", m.Body)
}

func readParts(t testing.TB, contentType, encoding, disposition string, body io.Reader) []part {
	t.Helper()
	kind, params, err := mime.ParseMediaType(contentType)
	if err != nil {
		t.Fatalf("Content-Type %q: %v", contentType, err)
	}
	if strings.HasPrefix(kind, "multipart/") {
		var leaves []part
		for parts := multipart.NewReader(body, params["boundary"]); ; {
			p, err := parts.NextRawPart()
			if errors.Is(err, io.EOF) {
				return leaves
			}
			if err != nil {
				t.Fatal(err)
			}
			leaves = append(leaves,
				readParts(t, p.Header.Get("Content-Type"), p.Header.Get("Content-Transfer-Encoding"),
					p.Header.Get("Content-Disposition"), p)...)
		}
	}
	switch strings.ToLower(encoding) {
	case "quoted-printable":
		body = quotedprintable.NewReader(body)
	case "base64":
		body = base64.NewDecoder(base64.StdEncoding, body)
	}
	text, err := io.ReadAll(body)
	if err != nil {
		t.Fatal(err)
	}
	_, file, _ := mime.ParseMediaType(disposition)
	return []part{{Type: kind, Method: params["method"], File: file["filename"],
		Body: strings.ReplaceAll(string(text), "\r\n", "\n")}}
}

func TestSendTransfersWholeMessage(t *testing.T) {
	t.Parallel()
	box, sender := newServerAndSender(t, "smtp", "", "127.0.0.1", mailbox.Options{})
	if err := sender.Send(t.Context(), newMessage()); err != nil {
		t.Fatal(err)
	}
	got := box.Mails()
	if len(got) != 1 || got[0].From != "no-reply@slotmesh.example" || !slices.Equal(got[0].To,
		[]string{"ada@example.com"}) {
		t.Fatalf("got %+v", got)
	}
	head, parts := parseMessage(t, got[0].Raw)
	decoded := map[string]string{}
	for name := range head {
		decoded[name], _ = new(mime.WordDecoder).DecodeHeader(head.Get(name))
	}
	delete(decoded, "Content-Type") // it contains a random boundary
	want := map[string]string{
		"From": `Zoë's Studio <no-reply@slotmesh.example>`, "To": "<ada@example.com>",
		"Reply-To": `Zoë's Studio <hello@harbor.example>`,
		"Subject":  "Ваша запись – 09:00", "Date": "Mon, 01 Mar 2027 09:00:00 +0000",
		"Message-Id": "<m1@slotmesh.example>",
		"References": "<b1@slotmesh.example>", "Auto-Submitted": "auto-generated", "Content-Language": "ru",
		"X-Auto-Response-Suppress": "All", "Mime-Version": "1.0",
	}
	if diff := cmp.Diff(want, decoded); diff != "" {
		t.Errorf("the head (-want +got):\n%s", diff)
	}
	calendar := "BEGIN:VCALENDAR\nMETHOD:REQUEST\nEND:VCALENDAR\n"
	wantParts := []part{
		{Type: "text/plain", Body: newMessage().Text}, {Type: "text/html", Body: newMessage().HTML},
		{Type: "text/calendar", Method: "REQUEST", Body: calendar}, {Type: "application/ics", File: "booking.ics",
			Body: calendar},
	}
	if diff := cmp.Diff(wantParts, parts); diff != "" {
		t.Errorf("the parts (-want +got):\n%s", diff)
	}
}

func TestSendOmitsEmptyCalendar(t *testing.T) {
	t.Parallel()
	box, sender := newServerAndSender(t, "smtp", "", "localhost", mailbox.Options{})
	m := newMessage()
	m.Calendar, m.Method, m.ReplyTo, m.Thread = nil, "", "", ""
	if err := sender.Send(t.Context(), m); err != nil {
		t.Fatal(err)
	}
	head, parts := parseMessage(t, box.Mails()[0].Raw)
	if len(parts) != 2 || head.Get("Reply-To") != "" || head.Get("References") != "" {
		t.Errorf("got %v with %v", parts, head)
	}
}

// The address 0.0.0.0 reaches this machine but is not a loopback address, so the connection must be
// encrypted.
func TestSendRequiresSTARTTLS(t *testing.T) {
	t.Parallel()
	box, sender := newServerAndSender(t, "smtp", "", "0.0.0.0", mailbox.Options{})
	var unsent *UnsentError
	if err := sender.Send(t.Context(), newMessage()); !errors.As(err, &unsent) || !strings.Contains(err.Error(),
		"STARTTLS") {
		t.Errorf("got %v", err)
	}
	if got := box.Mails(); len(got) != 0 {
		t.Errorf("%d messages were sent unencrypted", len(got))
	}
	box, sender = newServerAndSender(t, "smtp", "", "0.0.0.0", mailbox.Options{}, func(c *Config) {
		c.AllowPlaintext = true
	})
	if err := sender.Send(t.Context(), newMessage()); err != nil || len(box.Mails()) != 1 {
		t.Errorf("with AllowPlaintext: %v, %d messages", err, len(box.Mails()))
	}
}

func TestSendAuthenticatesOverTLS(t *testing.T) {
	t.Parallel()
	tlsServer := httptest.NewTLSServer(nil) // for its certificate
	t.Cleanup(tlsServer.Close)
	roots := x509.NewCertPool()
	roots.AddCert(tlsServer.Certificate())
	tlsConfig := &tls.Config{Certificates: tlsServer.TLS.Certificates, MinVersion: tls.VersionTLS12}
	for _, scheme := range []string{"smtp", "smtps"} {
		options := mailbox.Options{TLS: tlsConfig, User: "ada", Password: "p@ss word"}
		box, sender := newServerAndSender(t, scheme, "ada:p%40ss%20word@", "127.0.0.1", options)
		sender.tls.RootCAs = roots
		if err := sender.Send(t.Context(), newMessage()); err != nil || len(box.Mails()) != 1 {
			t.Errorf("%s: %v, %d messages", scheme, err, len(box.Mails()))
		}
		_, sender = newServerAndSender(t, scheme, "ada:wrong@", "127.0.0.1", options)
		sender.tls.RootCAs = roots
		var unsent *UnsentError
		if err := sender.Send(t.Context(), newMessage()); !errors.As(err, &unsent) || strings.Contains(err.Error(),
			"wrong") {
			t.Errorf("%s, wrong password: %v", scheme, err)
		}
		_, sender = newServerAndSender(t, scheme, "", "127.0.0.1", mailbox.Options{TLS: tlsConfig})
		if err := sender.Send(t.Context(), newMessage()); !errors.As(err, &unsent) || !strings.Contains(err.Error(),
			"certificate") {
			t.Errorf("%s, an untrusted certificate: %v", scheme, err)
		}
	}
}

func TestSendClassifiesErrors(t *testing.T) {
	t.Parallel()
	code := func(code int, text string) func(string) error {
		return func(string) error {
			return &smtp.SMTPError{Code: code, EnhancedCode: smtp.EnhancedCode{code / 100, 1, 1}, Message: text}
		}
	}
	for name, c := range map[string]struct {
		options  mailbox.Options
		refused  bool
		answered bool
		reason   string
	}{
		"no such address": {mailbox.Options{Refuse: code(550, "No such user")}, true, false,
			"sending SMTP RCPT TO command: 550 \"5.1.1 No such user\""},
		"come back later": {mailbox.Options{Refuse: code(451, "Greylisted")}, false, true,
			"sending SMTP RCPT TO command: 451 \"4.1.1 Greylisted\""},
		"spam": {mailbox.Options{Lose: func(mailbox.Mail) error {
			return code(554, "Spam")("")
		}}, true, false, "closing SMTP DATA writer: 554 \"5.1.1 Spam\""},
		"full": {mailbox.Options{Lose: func(mailbox.Mail) error {
			return code(452, "Full")("")
		}}, false, true, "closing SMTP DATA writer: 452 \"4.1.1 Full\""},
		"unknown domain": {mailbox.Options{Refuse: code(450, "Domain not found")}, false, true,
			"sending SMTP RCPT TO command: 450 \"4.1.1 Domain not found\""},
		"closing down": {mailbox.Options{Refuse: code(421, "Closing")}, false, false,
			"sending SMTP RCPT TO command: 421 \"4.1.1 Closing\""},
		"nobody signed in": {mailbox.Options{Refuse: code(530, "Sign in")}, false, false,
			"sending SMTP RCPT TO command: 530 \"5.1.1 Sign in\""},
	} {
		_, sender := newServerAndSender(t, "smtp", "", "127.0.0.1", c.options)
		err := sender.Send(t.Context(), newMessage())
		var refused *RefusedError
		if err == nil || errors.As(err, &refused) != c.refused || err.Error() != c.reason {
			t.Errorf("%s: got %T %v, want %q", name, err, err, c.reason)
		}
		var unsent *UnsentError
		if wasAnswered := errors.As(err, &unsent) && unsent.WasAnswered; wasAnswered != c.answered {
			t.Errorf("%s: WasAnswered is %t, want %t", name, wasAnswered, c.answered)
		}
	}
}

func TestSendFailsWithoutServer(t *testing.T) {
	t.Parallel()
	box, sender := newServerAndSender(t, "smtp", "", "127.0.0.1", mailbox.Options{})
	if err := box.Close(); err != nil {
		t.Fatal(err)
	}
	var unsent *UnsentError
	if err := sender.Send(t.Context(), newMessage()); !errors.As(err, &unsent) || unsent.MayBeSent {
		t.Errorf("got %v", err)
	}
}

// If the connection is lost after the last byte of the message, the server may have accepted the
// message.
func TestSendReportsLostAnswer(t *testing.T) {
	t.Parallel()
	var box *mailbox.Box
	var sender *Sender
	closed := make(chan struct{})
	box, sender = newServerAndSender(t, "smtp", "", "127.0.0.1", mailbox.Options{Lose: func(mailbox.Mail) error {
		go func() { defer close(closed); _ = box.Close() }()
		<-t.Context().Done() // the server never answers
		return nil
	}})
	var unsent *UnsentError
	if err := sender.Send(t.Context(), newMessage()); !errors.As(err, &unsent) || !unsent.MayBeSent {
		t.Errorf("got %T %v", err, err)
	}
}

func TestConfigValidate(t *testing.T) {
	t.Parallel()
	for url, want := range map[string]string{
		"":                                     "",
		"smtp://mail.example.com":              "",
		"smtps://u:p@mail.example.com:465":     "",
		"smtp://[::1]:25":                      "",
		"http://mail.example.com":              "SMTP_URL: write smtp://",
		"smtp://":                              "SMTP_URL: write smtp://",
		"smtp://u@mail.example.com":            "SMTP_URL: write user and password, or neither",
		"smtp://mail.example.com:0":            "SMTP_URL: the port is a number from 1 to 65535",
		"smtp://mail.example.com/path":         "SMTP_URL: write smtp://",
		"smtp://u:secret%zz@mail.example.com/": "SMTP_URL: write smtp://",
	} {
		cfg := Config{URL: url, From: "a@b.example", Timeout: time.Second}
		err := cfg.Validate()
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) || err != nil &&
			strings.Contains(err.Error(), "secret") {
			t.Errorf("%q: got %v, want %q", url, err, want)
		}
	}
	for _, from := range []string{"", "no-reply", "A <a@b.example>", "a@b.example, c@d.example",
		"a@b.example\r\nBcc: c@d.example"} {
		cfg := Config{URL: "smtp://mail.example.com", From: from, Timeout: time.Second}
		if err := cfg.Validate(); err == nil || !strings.Contains(err.Error(), "MAIL_FROM: ") {
			t.Errorf("MAIL_FROM %q: got %v", from, err)
		}
	}
	if err := (&Config{}).Validate(); err == nil || !strings.Contains(err.Error(), "SMTP_TIMEOUT: ") {
		t.Errorf("without a timeout: got %v", err)
	}
}

// headerNames are the headers of a message. No input adds a header.
var headerNames = []string{
	"Auto-Submitted", "Content-Language", "Content-Type", "Date", "From", "Message-Id", "Mime-Version", "References",
	"Reply-To", "Subject", "To", "X-Auto-Response-Suppress",
}

func FuzzComposeSanitizesHeaders(f *testing.F) {
	for _, s := range []string{
		"plain", "a\r\nBcc: evil@example.com", "a\nSubject: b\n\n<p>", "a\rb", "\u202eevil\u202c", "x\u2028y",
		"\x00\x0b\x7f", "\xff\xfe",
		"=?utf-8?q?a=0d=0aBcc:_e@example.com?=", strings.Repeat("long ", 400), strings.Repeat("x", 3000),
		strings.Repeat("ж", 1500), `"; name=`, "--\r\n.\r\nQUIT",
	} {
		f.Add(s, s, s, s)
	}
	sender, err := NewSender(Config{URL: "smtp://127.0.0.1", From: "no-reply@slotmesh.example"})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, name, subject, text, to string) {
		m := newMessage()
		m.FromName, m.Subject, m.Text = name, subject, text
		if msg, err := sender.compose(Message{To: to, Date: writtenAt}); err == nil {
			if rcpts, err := msg.GetRecipients(); err != nil || len(rcpts) != 1 || strings.ContainsAny(rcpts[0],
				"\r\n ") {
				t.Fatalf("the address %q became %q, %v", to, rcpts, err)
			}
		}
		msg, err := sender.compose(m)
		if err != nil {
			t.Fatal(err)
		}
		var raw strings.Builder
		if _, err := msg.WriteTo(&raw); err != nil {
			t.Fatal(err)
		}
		for _, l := range strings.Split(raw.String(), "\r\n") {
			if len(l) > 998 || strings.ContainsAny(l, "\r\n") {
				t.Fatalf("a line of %d bytes, or a line with CR or LF", len(l))
			}
		}
		head, parts := parseMessage(t, []byte(raw.String()))
		var names []string
		for name, values := range head {
			names = append(names, name)
			if len(values) != 1 {
				t.Errorf("%s occurs %d times", name, len(values))
			}
			for _, r := range mustDecode(t, values[0]) {
				if unicode.IsControl(r) || r >= '\u202a' && r <= '\u202e' {
					t.Errorf("%s has %U", name, r)
				}
			}
		}
		slices.Sort(names)
		if diff := cmp.Diff(headerNames, names); diff != "" {
			t.Errorf("the headers (-want +got):\n%s", diff)
		}
		if to, err := head.AddressList("To"); err != nil || len(to) != 1 {
			t.Errorf("To: %v, %v", to, err)
		}
		if len(parts) != 4 {
			t.Errorf("%d parts", len(parts))
		}
	})
}

func mustDecode(t *testing.T, value string) string {
	t.Helper()
	decoded, err := new(mime.WordDecoder).DecodeHeader(value)
	if err != nil {
		t.Fatal(err)
	}
	return decoded
}

func TestComposeBeginsSubjectOnFirstLine(t *testing.T) {
	t.Parallel()
	for _, subject := range []string{
		"Ваша запись подтверждена: Стрижка и укладка, длинные волосы · пн, 1 марта, 09:00", "Ä",
		"予約が確定しました：カット・カラー・トリートメント、その他のメニュー",
		"Booking confirmed: Füße", strings.Repeat("é", 100), "Booking confirmed: haircut",
	} {
		sender, err := NewSender(Config{URL: "smtp://127.0.0.1:25", Timeout: testkit.MaxWait,
			From: "no-reply@slotmesh.example"})
		if err != nil {
			t.Fatal(err)
		}
		m := newMessage()
		m.Subject = subject
		msg, err := sender.compose(m)
		if err != nil {
			t.Fatal(err)
		}
		var raw strings.Builder
		if _, err := msg.WriteTo(&raw); err != nil {
			t.Fatal(err)
		}
		_, head, _ := strings.Cut(raw.String(), "\r\nSubject:")
		for i, line := range strings.Split(head, "\r\n") {
			if i > 0 && !strings.HasPrefix(line, " ") {
				break
			}
			if strings.TrimSpace(line) == "" || len(line) > 76 {
				t.Errorf("%s: line %d of the subject is %q", subject, i+1, line)
			}
		}
		parsed, err := mail.ReadMessage(strings.NewReader(raw.String()))
		if err != nil {
			t.Fatal(err)
		}
		if got, err := new(mime.WordDecoder).DecodeHeader(parsed.Header.Get("Subject")); err != nil || got != subject {
			t.Errorf("the subject is decoded as %q, %v; want %q", got, err, subject)
		}
	}
}
