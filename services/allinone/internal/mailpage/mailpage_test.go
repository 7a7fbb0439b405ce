package mailpage_test

import (
	"encoding/json"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/smtp"
	"strings"
	"testing"

	"github.com/slotmesh/slotmesh/libs/platform/mailbox"
	"github.com/slotmesh/slotmesh/libs/testkit/leaks"
	"github.com/slotmesh/slotmesh/services/allinone/internal/mailpage"
)

func TestMain(m *testing.M) { leaks.Verify(m) }

const sent = "From: =?utf-8?q?Zo=C3=AB?= <no-reply@slotmesh.example>\r\nTo: <ada@example.com>\r\nSubject: <b>Hello</b>\r\nDate: Mon, 01 Mar 2027 09:00:00 +0000\r\n" +
	"MIME-Version: 1.0\r\nContent-Type: multipart/alternative; boundary=b\r\n\r\n--b\r\nContent-Type: text/plain; charset=UTF-8\r\nContent-Transfer-Encoding: quoted-printable\r\n\r\n" +
	"Gr=C3=BC=C3=9Fe <i>\r\n--b\r\nContent-Type: text/html; charset=UTF-8\r\n\r\n<script>alert(1)</script><p>Hi</p>\r\n--b\r\n" +
	"Content-Type: text/calendar; method=REQUEST\r\nContent-Transfer-Encoding: base64\r\n\r\nQkVHSU46VkNBTEVOREFS\r\n--b--\r\n"

func get(t *testing.T, url, host string) (*http.Response, string) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	request.Host = host
	answer, err := http.DefaultTransport.RoundTrip(request)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = answer.Body.Close() }()
	body, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer, string(body)
}

func TestHandlerShowsMail(t *testing.T) {
	t.Parallel()
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	box := mailbox.Open(listener, mailbox.Options{})
	t.Cleanup(func() { _ = box.Close() })
	web := httptest.NewServer(mailpage.Handler(box))
	t.Cleanup(web.Close)
	t.Cleanup(http.DefaultTransport.(*http.Transport).CloseIdleConnections)

	if _, body := get(t, web.URL, ""); !strings.Contains(body, "Nothing yet") {
		t.Errorf("an empty box: %s", body)
	}
	if err := smtp.SendMail(listener.Addr().String(), nil, "no-reply@slotmesh.example", []string{"ada@example.com"},
		[]byte(sent)); err != nil {
		t.Fatal(err)
	}
	answer, body := get(t, web.URL, "")
	if policy := answer.Header.Get("Content-Security-Policy"); !strings.HasPrefix(policy, "default-src 'none'") ||
		strings.Contains(policy, "script-src") {
		t.Errorf("Content-Security-Policy: %s", policy)
	}
	if !strings.Contains(body, "&lt;b&gt;Hello&lt;/b&gt;") || !strings.Contains(body, "ada@example.com") ||
		strings.Contains(body, "<b>Hello") {
		t.Errorf("the list: %s", body)
	}
	if _, body := get(t, web.URL+"/mails/1", ""); !strings.Contains(body, "Grüße &lt;i&gt;") || !strings.Contains(body,
		"Zoë") || !strings.Contains(body, "<iframe sandbox src=\"/mails/1/html\"") || strings.Contains(body, "alert") {
		t.Errorf("the mail: %s", body)
	}
	for path, want := range map[string]string{"html": "<script>alert(1)</script><p>Hi</p>",
		"calendar": "BEGIN:VCALENDAR", "raw": sent} {
		if _, body := get(t, web.URL+"/mails/1/"+path, ""); strings.TrimSpace(body) != strings.TrimSpace(want) {
			t.Errorf("%s: %q", path, body)
		}
	}
	var list struct {
		Mails []struct {
			ID      int
			Subject string
		}
	}
	if _, body := get(t, web.URL+"/mails.json", "localhost:8025"); json.Unmarshal([]byte(body), &list) != nil ||
		len(list.Mails) != 1 || list.Mails[0].Subject != "<b>Hello</b>" {
		t.Errorf("as JSON: %s", body)
	}
	for path, want := range map[string]int{"/mails/2": 404, "/mails/x/html": 404, "/other": 404} {
		if answer, _ := get(t, web.URL+path, ""); answer.StatusCode != want {
			t.Errorf("%s: %d", path, answer.StatusCode)
		}
	}
	if answer, _ := get(t, web.URL, "evil.example"); answer.StatusCode != http.StatusForbidden {
		t.Errorf("by another name: %d", answer.StatusCode)
	}
}

// TestHandlerShowsPictures shows that the HTML of a mail shows a picture that is a part of the mail.
func TestHandlerShowsPictures(t *testing.T) {
	t.Parallel()
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	box := mailbox.Open(listener, mailbox.Options{})
	t.Cleanup(func() { _ = box.Close() })
	web := httptest.NewServer(mailpage.Handler(box))
	t.Cleanup(web.Close)
	t.Cleanup(http.DefaultTransport.(*http.Transport).CloseIdleConnections)
	const withPicture = "Subject: Logo\r\nContent-Type: multipart/related; boundary=b\r\n\r\n" +
		"--b\r\nContent-Type: text/html\r\n\r\n<img src=\"cid:logo@slotmesh\">\r\n" +
		"--b\r\nContent-Type: image/jpeg\r\nContent-Id: <logo@slotmesh>\r\nContent-Transfer-Encoding: base64\r\n\r\n" +
		"YWJj\r\n--b--\r\n"
	if err := smtp.SendMail(listener.Addr().String(), nil, "no-reply@slotmesh.example", []string{"ada@example.com"},
		[]byte(withPicture)); err != nil {
		t.Fatal(err)
	}
	answer, body := get(t, web.URL+"/mails/1/html", "")
	if policy := answer.Header.Get("Content-Security-Policy"); !strings.Contains(policy, "img-src data:;") ||
		!strings.Contains(body, `<img src="data:image/jpeg;base64,YWJj">`) {
		t.Errorf("%s: %s", policy, body)
	}
}
