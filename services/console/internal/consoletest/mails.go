package consoletest

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/slotmesh/slotmesh/libs/contracts/notifications"
	"github.com/slotmesh/slotmesh/libs/values/fault"
)

// RefusedAddress is an e-mail address. The fake refuses all mails to this address, as a mail server refuses mails to an
// unknown address.
const RefusedAddress = "refused@example.com"

func (s *Notifications) sendMail(r *http.Request) (*reply, error) {
	var mail notifications.Mail
	if err := json.NewDecoder(r.Body).Decode(&mail); err != nil {
		return nil, err
	}
	if mail.To == RefusedAddress {
		return nil, fault.New(fault.Conflict, "The mail server refuses this mail.")
	}
	s.mails = append(s.mails, mail)
	close(s.mailSent)
	s.mailSent = make(chan struct{})
	return newReply(struct{}{})
}

// ListMails returns the mails to the e-mail address `to` that console has sent by the fake.
func (s *Notifications) ListMails(to string) []notifications.Mail {
	s.mu.Lock()
	defer s.mu.Unlock()
	var found []notifications.Mail
	for _, m := range s.mails {
		if m.To == to {
			found = append(found, m)
		}
	}
	return found
}

// AwaitMail waits until console has sent `n` mails to the e-mail address `to`. AwaitMail returns the last mail, and the
// path of the link in the last mail.
func (w *Fixture) AwaitMail(t *testing.T, to string, n int) (notifications.Mail, string) {
	t.Helper()
	late := time.After(2 * time.Minute)
	for {
		w.Notifications.mu.Lock()
		changed := w.Notifications.mailSent
		w.Notifications.mu.Unlock()
		if mails := w.Notifications.ListMails(to); len(mails) >= n {
			mail := mails[n-1]
			return mail, strings.TrimPrefix(mail.Link, OwnerURL)
		}
		select {
		case <-changed:
		case <-late:
			t.Fatalf("mail %d to %s has not come", n, to)
		}
	}
}
