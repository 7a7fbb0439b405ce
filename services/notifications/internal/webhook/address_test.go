package webhook_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"log"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"golang.org/x/net/dns/dnsmessage"

	"github.com/slotmesh/slotmesh/libs/platform/clock"
	"github.com/slotmesh/slotmesh/libs/testkit"
	"github.com/slotmesh/slotmesh/services/notifications/internal/webhook"
)

// privateHosts are hosts that are or may be private addresses, in all notations that some library
// accepts.
var privateHosts = []string{
	// this machine
	"127.0.0.1", "127.1", "127.0.1", "2130706433", "0x7f000001", "0x7f.1", "0x7F.0.0.1", "017700000001", "0177.0.0.1",
	"0177.1", "127.0.0.01",
	"127.255.255.254", "0", "0.0.0.0", "0x0", "00", "[::1]", "[::]", "[0:0:0:0:0:0:0:1]", "localhost", "localhost.",
	"a.localhost", "LOCALHOST",
	// mapped, compatible, translated and tunnelled IPv4
	"[::ffff:127.0.0.1]", "[::ffff:7f00:1]", "[::ffff:10.0.0.1]", "[::ffff:8.8.8.8]", "[::127.0.0.1]",
	"[64:ff9b::127.0.0.1]", "[64:ff9b::a9fe:a9fe]",
	"[64:ff9b:1::10.0.0.1]", "[2002:7f00:1::1]", "[2002:a9fe:a9fe::]", "[2001:0:53aa:64c:0:0:f5ff:fffe]",
	"[::ffff:0:127.0.0.1]",
	// private networks
	"10.0.0.1", "10.1", "167772161", "0xa000001", "012.0.0.1", "172.16.0.1", "172.31.255.255", "192.168.0.1",
	"3232235521", "0xc0a80001", "100.64.0.1",
	"[fc00::1]", "[fd12:3456:789a::1]", "[fec0::1]",
	// link-local and metadata
	"169.254.169.254", "2852039166", "0xa9fea9fe", "0251.0376.0251.0376", "169.254.170.2", "[fe80::1]",
	"[fe80::1%25eth0]", "[fd00:ec2::254]",
	"100.100.100.200", "192.0.0.192", "168.63.129.16",
	// other special-purpose addresses
	"192.0.2.1", "198.18.0.1", "198.51.100.7", "203.0.113.9", "224.0.0.1", "239.255.255.250", "240.0.0.1",
	"255.255.255.255",
	"[2001:db8::1]", "[ff02::1]", "[100::1]", "[3fff::1]", "kubernetes", "redis.",
}

func failToResolve(context.Context, string) ([]netip.Addr, error) {
	return nil, &net.DNSError{IsNotFound: true}
}

func TestCheckURLRejectsPrivateAddresses(t *testing.T) {
	t.Parallel()
	if len(privateHosts) < 60 {
		t.Fatalf("%d addresses", len(privateHosts))
	}
	for _, host := range privateHosts {
		for _, url := range []string{"https://" + host + "/hooks", "https://" + host + ":443/",
			"http://" + host + "/"} {
			if err := (webhook.Guard{}).CheckURL(t.Context(), url, failToResolve); err == nil {
				t.Errorf("%s is accepted", url)
			}
		}
	}
	for _, url := range []string{"https://example.com/hooks?a=b", "https://example.com:443",
		"https://xn--bcher-kva.example/", "https://3com.example.org"} {
		if err := (webhook.Guard{}).CheckURL(t.Context(), url, failToResolve); err != nil {
			t.Errorf("%s: %v", url, err)
		}
	}
	for _, url := range []string{
		"http://example.com", "ftp://example.com", "https://user:pw@example.com", "https://example.com/#a",
		"https://example.com:8443", "https://", "https:example.com",
		"//example.com", "example.com", "", "https://example.com\n", "https://example.com/" + strings.Repeat("a", 3000),
		"https://%zz", "https://a..b", "https://.com",
	} {
		if err := (webhook.Guard{}).CheckURL(t.Context(), url, failToResolve); err == nil {
			t.Errorf("%q is accepted", url)
		}
	}
}

func TestCheckURLRejectsNameOfPrivateAddress(t *testing.T) {
	t.Parallel()
	resolve := func(context.Context, string) ([]netip.Addr, error) {
		return []netip.Addr{netip.MustParseAddr("93.184.215.14"), netip.MustParseAddr("10.0.0.7")}, nil
	}
	if err := (webhook.Guard{}).CheckURL(t.Context(), "https://example.com/", resolve); err == nil {
		t.Error("the name is accepted")
	}
}

// Send does not connect to a private address, even if an endpoint has one.
func TestSendRejectsPrivateAddresses(t *testing.T) {
	t.Parallel()
	sender := webhook.NewSender(webhook.Guard{}, newFakeResolver(t, func(string) string {
		return "127.0.0.1"
	}), clock.Fixed(now), testkit.MaxWait)
	defer sender.Close()
	for _, host := range privateHosts {
		for _, scheme := range []string{"https://", "http://"} {
			a, err := sender.Send(t.Context(), webhook.Message{URL: scheme + host + "/", ID: "1", Body: []byte("{}")})
			if err != nil || a.Status != 0 || a.Error == "" || a.Error == "No connection could be made." {
				t.Errorf("%s%s: %+v, %v", scheme, host, a, err)
			}
		}
	}
}

// Control refuses the first and the last address of each private range, and allows the addresses
// beside the range. The test does not connect, so a missing route cannot hide a missing range.
func TestControlRejectsPrivateRanges(t *testing.T) {
	t.Parallel()
	isRefused := func(address string) bool {
		return webhook.Guard{}.Control("tcp", net.JoinHostPort(address, "443"), nil) != nil
	}
	for _, ends := range []string{
		"0.0.0.0 0.255.255.255", "10.0.0.0 10.255.255.255", "100.64.0.0 100.127.255.255", "127.0.0.0 127.255.255.255",
		"169.254.0.0 169.254.255.255", "172.16.0.0 172.31.255.255",
		"192.0.0.0 192.0.0.255", "192.0.2.0 192.0.2.255", "192.88.99.0 192.88.99.255", "192.168.0.0 192.168.255.255",
		"198.18.0.0 198.19.255.255", "198.51.100.0 198.51.100.255",
		"203.0.113.0 203.0.113.255", "224.0.0.0 255.255.255.255", "168.63.129.16 168.63.129.16",
		":: 1fff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "2001:: 2001:1ff:ffff:ffff:ffff:ffff:ffff:ffff",
		"2001:db8:: 2001:db8:ffff:ffff:ffff:ffff:ffff:ffff", "2002:: 2002:ffff:ffff:ffff:ffff:ffff:ffff:ffff",
		"3fff:: 3fff:fff:ffff:ffff:ffff:ffff:ffff:ffff",
		"4000:: ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "fc00:: fdff:ffff:ffff:ffff:ffff:ffff:ffff:ffff",
		"fe80:: febf:ffff:ffff:ffff:ffff:ffff:ffff:ffff",
		"::ffff:8.8.8.8 ::ffff:169.254.169.254", "64:ff9b::808:808 64:ff9b::a9fe:a9fe",
	} {
		for _, address := range strings.Fields(ends) {
			if !isRefused(address) {
				t.Errorf("%s is allowed", address)
			}
		}
	}
	for _, address := range strings.Fields(`1.0.0.0 9.255.255.255 11.0.0.0 100.63.255.255 100.128.0.0 126.255.255.255 128.0.0.0 169.253.255.255 169.255.0.0 172.15.255.255 172.32.0.0
		192.167.255.255 192.169.0.0 198.17.255.255 198.20.0.0 223.255.255.255 168.63.129.15 2001:200:: 2001:db7:ffff:: 2001:db9:: 2003:: 2606:4700::1111 3ffe::`) {
		if isRefused(address) {
			t.Errorf("%s is public but refused", address)
		}
	}
	for _, address := range []string{"8.8.8.8:80", "8.8.8.8:22", "[2606:4700::1111]:8443", "8.8.8.8", "example.com:443",
		""} {
		if (webhook.Guard{}).Control("tcp", address, nil) == nil {
			t.Errorf("%s is allowed", address)
		}
	}
}

// A name resolves to a public address when CheckURL checks it, and to a private address when Send
// calls it.
func TestSendRejectsReboundName(t *testing.T) {
	t.Parallel()
	var (
		calls     atomic.Int64
		isChecked atomic.Bool
	)
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { calls.Add(1) }))
	defer server.Close()
	resolver := newFakeResolver(t, func(string) string { // the resolver may repeat a query
		if isChecked.Load() {
			return "127.0.0.1"
		}
		return "93.184.215.14"
	})
	lookup := func(ctx context.Context, host string) ([]netip.Addr, error) {
		return resolver.LookupNetIP(ctx, "ip4", host)
	}
	const url = "https://rebinding.example/"
	if err := (webhook.Guard{}).CheckURL(t.Context(), url, lookup); err != nil {
		t.Fatal(err)
	}
	isChecked.Store(true)
	sender := webhook.NewSender(webhook.Guard{}, resolver, clock.Fixed(now), testkit.MaxWait)
	defer sender.Close()
	a, err := sender.Send(t.Context(), webhook.Message{URL: url, ID: "1", Body: []byte("{}")})
	if err != nil || a.Error != "The name leads to an address that is not public." {
		t.Errorf("%+v, %v", a, err)
	}
	_, port, _ := strings.Cut(server.Listener.Addr().String(), ":")
	a, err = sender.Send(t.Context(), webhook.Message{URL: "http://rebinding.example:" + port, ID: "1",
		Body: []byte("{}")})
	if err != nil || a.Error == "" || calls.Load() != 0 {
		t.Errorf("the server of this machine got %d requests: %+v, %v", calls.Load(), a, err)
	}
}

// Send does not follow a redirect, which may lead to a private address. It returns the status of the
// redirect.
func TestSendDoesNotFollowRedirects(t *testing.T) {
	t.Parallel()
	var calls atomic.Int64
	inside := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { calls.Add(1) }))
	defer inside.Close()
	sender := webhook.NewSender(webhook.Guard{AllowLoopback: true}, nil, clock.Fixed(now), testkit.MaxWait)
	defer sender.Close()
	for _, status := range []int{301, 302, 303, 307, 308} {
		outside := httptest.NewServer(http.RedirectHandler(inside.URL, status))
		a, err := sender.Send(t.Context(), webhook.Message{URL: outside.URL, ID: "1", Body: []byte("{}")})
		if err != nil || a.IsDelivered() || a.Status != status || calls.Load() != 0 {
			t.Errorf("%d: %+v, %v", status, a, err)
		}
		outside.Close()
	}
}

func TestSendReads4KiBOfAnswer(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write([]byte("\xff\x00" + strings.Repeat("a", 1<<20)))
	}))
	defer server.Close()
	sender := webhook.NewSender(webhook.Guard{AllowLoopback: true}, nil, clock.Fixed(now), testkit.MaxWait)
	defer sender.Close()
	a, err := sender.Send(t.Context(), webhook.Message{URL: server.URL, ID: "1", Body: []byte("{}")})
	if want := "\uFFFD\uFFFD" + strings.Repeat("a", 4094); err != nil || !a.IsDelivered() || a.Answer != want {
		t.Errorf("%d bytes, %+v, %v", len(a.Answer), a.Status, err)
	}
}

// The receiver chooses the names in its certificate. The error quotes them with printable characters
// only.
func TestSendQuotesPrintableCertificateNames(t *testing.T) {
	t.Parallel()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		DNSNames: []string{"\x00\r\x1b[2J.example"},
	}
	certificate, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewUnstartedServer(http.NotFoundHandler())
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	server.TLS = &tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{certificate}, PrivateKey: key}},
		MinVersion: tls.VersionTLS12}
	server.StartTLS()
	defer server.Close()
	sender := webhook.NewSender(webhook.Guard{AllowLoopback: true}, newFakeResolver(t, func(string) string {
		return "127.0.0.1"
	}), clock.Fixed(now), testkit.MaxWait)
	defer sender.Close()
	_, port, _ := strings.Cut(server.Listener.Addr().String(), ":")
	a, err := sender.Send(t.Context(), webhook.Message{URL: "https://hooks.example:" + port, ID: "1",
		Body: []byte("{}")})
	if err != nil || !strings.HasPrefix(a.Error, "The certificate is not trusted: ") || !strings.Contains(a.Error,
		"[2J") {
		t.Errorf("%q, %v", a.Error, err)
	}
	if i := strings.IndexFunc(a.Error, unicode.IsControl); i >= 0 || !utf8.ValidString(a.Error) {
		t.Errorf("%q", a.Error)
	}
}

// newFixedServer starts a server that answers each request with these bytes. It closes the connection
// at once, or, if awaitsClose is true, after the sender has closed it.
func newFixedServer(t *testing.T, answer string, awaitsClose bool) *httptest.Server {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		conn, _, err := http.NewResponseController(w).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		defer func() { _ = conn.Close() }()
		_, _ = io.WriteString(conn, answer)
		if !awaitsClose {
			return
		}
		_ = conn.SetReadDeadline(time.Now().Add(testkit.MaxWait))
		if _, err := conn.Read(make([]byte, 1)); errors.Is(err, os.ErrDeadlineExceeded) {
			t.Error("the sender does not end the connection")
		}
	}))
	t.Cleanup(server.Close)
	return server
}

// Send returns the status even if the body breaks off. After a switch to another protocol, it does not
// wait for a body.
func TestSendReturnsStatusOfBrokenBody(t *testing.T) {
	t.Parallel()
	sender := webhook.NewSender(webhook.Guard{AllowLoopback: true}, nil, clock.Fixed(now), testkit.MaxWait)
	defer sender.Close()
	for answer, want := range map[string]webhook.Attempt{
		"200 OK\r\nContent-Length: 9\r\n\r\nbegun":   {Status: 200, Answer: "begun"},
		"410 Gone\r\nContent-Length: 9\r\n\r\nbegun": {Status: 410, Answer: "begun"},
		"503 Service Unavailable\r\nRetry-After: 60\r\nContent-Length: 9\r\n\r\nbegun": {Status: 503, Answer: "begun",
			RetryAfter: time.Minute},
		"101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: other\r\n\r\n": {Status: 101},
	} {
		server := newFixedServer(t, "HTTP/1.1 "+answer, want.Status == http.StatusSwitchingProtocols)
		got, err := sender.Send(t.Context(), webhook.Message{URL: server.URL, ID: "1", Body: []byte("{}")})
		got.At, got.Took = time.Time{}, 0
		if err != nil || got != want {
			t.Errorf("%q: %+v, %v, want %+v", answer, got, err, want)
		}
	}
}

// newFakeResolver returns a resolver with a name server that resolves each name to the address that
// answer returns.
func newFakeResolver(t *testing.T, answer func(name string) string) *net.Resolver {
	t.Helper()
	server, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		buffer := make([]byte, 1500)
		for {
			n, from, err := server.ReadFrom(buffer)
			if err != nil {
				return
			}
			var m dnsmessage.Message
			if m.Unpack(buffer[:n]) != nil || len(m.Questions) != 1 {
				continue
			}
			q := m.Questions[0]
			m.Response, m.Authoritative, m.Additionals = true, true, nil
			if q.Type == dnsmessage.TypeA {
				m.Answers = []dnsmessage.Resource{{
					Header: dnsmessage.ResourceHeader{Name: q.Name, Class: q.Class, Type: q.Type},
					Body:   &dnsmessage.AResource{A: netip.MustParseAddr(answer(q.Name.String())).As4()},
				}}
			}
			packed, _ := m.Pack()
			_, _ = server.WriteTo(packed, from)
		}
	}()
	t.Cleanup(func() { _ = server.Close(); <-done })
	return &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "udp", server.LocalAddr().String())
	}}
}

func TestGuardAllowsOperatorNetworks(t *testing.T) {
	t.Parallel()
	guard := webhook.Guard{AllowedNetworks: []netip.Prefix{netip.MustParsePrefix("10.1.0.0/16"),
		netip.MustParsePrefix("fd00::/8")}}
	resolve := func(_ context.Context, host string) ([]netip.Addr, error) {
		return map[string][]netip.Addr{
			"hooks.internal": {netip.MustParseAddr("10.1.2.3")},
			"mixed.example":  {netip.MustParseAddr("10.1.2.3"), netip.MustParseAddr("10.2.0.1")},
			"other.internal": {netip.MustParseAddr("10.2.0.1")},
		}[host], nil
	}
	for url, want := range map[string]bool{
		"http://hooks.internal:8080/a": true, "https://hooks.internal/a": true, "http://10.1.2.3:9000/": true,
		"http://[fd00::1]/":     true,
		"http://mixed.example/": false, "http://other.internal/": false, "http://10.2.0.1/": false,
		"http://127.0.0.1/": false,
		"ftp://10.1.2.3/":   false, "http://user:secret@10.1.2.3/": false, "http://169.254.169.254/": false,
	} {
		if err := guard.CheckURL(t.Context(), url, resolve); (err == nil) != want {
			t.Errorf("%s: %v, want it allowed: %v", url, err, want)
		}
		if err := (webhook.Guard{}).CheckURL(t.Context(), url, resolve); err == nil && !strings.HasPrefix(url,
			"https://hooks") {
			t.Errorf("%s is allowed without a setting", url)
		}
	}
	for address, want := range map[string]bool{
		"10.1.2.3:8080": true, "[fd00::1]:80": true, "[::ffff:10.1.2.3]:80": true, "10.2.0.1:443": false,
		"127.0.0.1:443": false, "93.184.215.14:80": false,
	} {
		if err := guard.Control("tcp", address, nil); (err == nil) != want {
			t.Errorf("%s: %v, want it allowed: %v", address, err, want)
		}
	}
}
