package e2e

import (
	"bytes"
	"context"
	"fmt"
	"mime"
	"net"
	"net/http"
	"net/mail"
	"regexp"
	"strings"
	"testing"

	"github.com/slotmesh/slotmesh/libs/platform/mailbox"
	"github.com/slotmesh/slotmesh/libs/testkit"
	"github.com/slotmesh/slotmesh/services/allinone"
)

// awaitMails waits until n mails were sent, and returns them by recipient.
func (w *platform) awaitMails(t *testing.T, n int) map[string][]mailbox.Mail {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), testkit.MaxWait)
	defer cancel()
	sent, err := w.Mailbox.Await(ctx, n)
	if err != nil {
		t.Fatal(err)
	}
	to := map[string][]mailbox.Mail{}
	for _, m := range sent {
		to[m.To[0]] = append(to[m.To[0]], m)
	}
	return to
}

func decodeHeader(t *testing.T, m mailbox.Mail, name string) string {
	t.Helper()
	read, err := mail.ReadMessage(bytes.NewReader(m.Raw))
	if err != nil {
		t.Fatal(err)
	}
	value, err := new(mime.WordDecoder).DecodeHeader(read.Header.Get(name))
	if err != nil {
		t.Fatal(err)
	}
	return value
}

// TestBookingMailsCustomerAndOwner checks that a booking sends a mail to the customer in the customer's language, and a
// mail to the owner. A customer without an address gets no mail. The mail page shows the mail to the customer.
func TestBookingMailsCustomerAndOwner(t *testing.T) {
	t.Parallel()
	w := sharePlatform(t)
	w.publish(t, "mailed", strings.Replace(buildSalon("mailed", 1), "languages: [en]", `languages: [en, pt]
notifications: {owner_emails: [hello@mailed.example], reply_to: desk@mailed.example}`, 1))
	cut, key := w.idsByName(t, "mailed", "services")["Cut"], w.createKey(t, "mailed", "write")
	var walkIn struct{ ID, Status string }
	w.callAdmin(t, http.MethodPost, "businesses/mailed/bookings", fmt.Appendf(nil,
		`{"service_ids":[%q],"date":"2027-03-02","time":"09:00","customer_name":"Whoever"}`,
		cut)).decode(t, http.StatusCreated, &walkIn)
	o := newOrder(cut, "2027-03-02", "10:00")
	o["customer_email"], o["locale"] = "zoe@mailed.example", "pt-BR"
	var booked struct{ Booking struct{ ID string } }
	w.book(t, "mailed", key, o).decode(t, http.StatusCreated, &booked)
	customer, owner := w.inbox.await(t, "zoe@mailed.example", 1), w.inbox.await(t, "hello@mailed.example", 1)
	if len(customer) != 1 || len(owner) != 1 {
		t.Fatalf("%d mails to the customer, %d to the owner", len(customer), len(owner))
	}
	if got := decodeHeader(t, customer[0], "Content-Language"); got != "pt" {
		t.Errorf("the customer is written to in %q", got)
	}
	if got := decodeHeader(t, customer[0], "Reply-To"); !strings.Contains(got, "desk@mailed.example") {
		t.Errorf("answers go to %q", got)
	}
	w.confirmByMail(t, owner[0])
	if mails := w.inbox.await(t, "zoe@mailed.example", 2); len(mails) != 2 {
		t.Errorf("%d mails once the booking is confirmed", len(mails))
	}
	var list struct{ Messages []struct{ ID, Kind string } }
	if a := w.callAdmin(t, http.MethodGet, "businesses/mailed/messages", nil); a.status != http.StatusOK ||
		strings.Contains(string(a.body), walkIn.ID) {
		t.Errorf("a customer without an e-mail address has a message: %d %s", a.status, a.body)
	}
	w.callAdmin(t, http.MethodGet, "businesses/mailed/messages?kind=owner_notice", nil).decode(t, http.StatusOK, &list)
	if len(list.Messages) != 1 {
		t.Fatalf("the owner sees %+v", list)
	}
	var whole struct{ Recipient, Text string }
	w.callAdmin(t, http.MethodGet, "businesses/mailed/messages/"+list.Messages[0].ID, nil).decode(t, http.StatusOK,
		&whole)
	if whole.Recipient != "hello@mailed.example" || whole.Text == "" {
		t.Errorf("the owner reads %+v", whole)
	}
	w.callAdmin(t, http.MethodPost, "businesses/mailed/messages/"+list.Messages[0].ID+"/retry", nil).checkStatus(t,
		http.StatusConflict, "conflict")
	if a := w.do(t, http.MethodGet, w.MailURL+"/mails.json", nil, nil); !strings.Contains(string(a.body),
		"zoe@mailed.example") {
		t.Errorf("the page shows %s", a.body)
	}
}

// confirmByMail confirms a booking by the link in the notice to the owner. The page needs no sign-in; opening it changes
// nothing.
func (w *platform) confirmByMail(t *testing.T, notice mailbox.Mail) {
	t.Helper()
	raw := strings.ReplaceAll(string(notice.Raw), "=\r\n", "")
	url := regexp.MustCompile(`https?://[^\s"]+/b/mailed/decide/[\w-]+`).FindString(raw)
	if url == "" {
		t.Fatalf("the notice has no link:\n%s", raw)
	}
	for range 2 {
		page := w.do(t, http.MethodGet, url, nil, nil)
		if page.status != http.StatusOK || !strings.Contains(string(page.body), "New booking request") {
			t.Fatalf("%d %s", page.status, page.body)
		}
	}
	form := http.Header{"Content-Type": {"application/x-www-form-urlencoded"}, "Sec-Fetch-Site": {"same-origin"}}
	page := w.do(t, http.MethodPost, url, []byte("decision=confirm&sequence=1"), form)
	if body := string(page.body); page.status != http.StatusOK || !strings.Contains(body, "Booking confirmed") ||
		!strings.Contains(body, "You</dd>") {
		t.Errorf("%d %s", page.status, page.body)
	}
}

// TestSMTPURLSelectsMailServer shows that mail goes to the server that SMTP_URL names. The process then keeps no mail
// and has no mail page.
func TestSMTPURLSelectsMailServer(t *testing.T) {
	t.Parallel()
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	box := mailbox.Open(listener, mailbox.Options{})
	t.Cleanup(func() { _ = box.Close() })
	w := startPlatform(t, func(c *allinone.Config) {
		c.SMTPURL, c.MailFrom = fmt.Sprintf("smtp://%s", listener.Addr()), "no-reply@harbor.example"
	})
	if w.MailURL != "" || w.Mailbox != nil {
		t.Errorf("the process keeps the mail at %s although there is a mail server", w.MailURL)
	}
	w.publish(t, "elsewhere", buildSalon("elsewhere", 1))
	o := newOrder(w.idsByName(t, "elsewhere", "services")["Cut"], "2027-03-02", "10:00")
	w.book(t, "elsewhere", w.createKey(t, "elsewhere", "write"), o).checkStatus(t, http.StatusCreated, "")
	w.Mailbox = box
	for _, m := range w.awaitMails(t, 1) {
		if m[0].From != "no-reply@harbor.example" {
			t.Errorf("from %s", m[0].From)
		}
	}
}
