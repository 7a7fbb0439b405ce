package consoletest

import (
	"encoding/json"
	"html"
	"net/http"
	"slices"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/contracts/notifications"
	"github.com/slotmesh/slotmesh/libs/values/fault"
)

// ReplaceMessages replaces the stored messages of a business with `n` new messages to customers. It returns the new
// messages, newest first. The sending of the newest message has failed; the other messages were sent.
func (s *Notifications) ReplaceMessages(business uuid.UUID, n int) []notifications.WholeMessage {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := make([]notifications.WholeMessage, n)
	for i := range all {
		at := Epoch
		all[i] = notifications.WholeMessage{
			Message: notifications.Message{
				ID: uuid.New(), Kind: "booking_confirmed", EventID: uuid.New(),
				About:     notifications.Subject{Kind: "booking", ID: uuid.New()},
				Recipient: "zoe@example.com", Locale: "en", Subject: "Your booking is confirmed",
				Status: notifications.MessageSent, Attempts: 1, CreatedAt: Epoch, SentAt: &at,
			},
			FromName: "Harbor", ReplyTo: "desk@example.com", Text: "Hello Zoë,\nyour booking is confirmed.\n",
			HTML:     "<p>Hello Zoë</p>",
			Calendar: "BEGIN:VCALENDAR\r\n", CalendarMethod: "REQUEST",
		}
	}
	all[0].Status, all[0].Reason, all[0].SentAt = notifications.MessageFailed, "550 No such user", nil
	s.messages[business.String()] = all
	return slices.Clone(all)
}

func (s *Notifications) listMessages(r *http.Request) (*reply, error) {
	status, kind, about := r.URL.Query().Get("status"), r.URL.Query().Get("kind"), r.URL.Query().Get("about")
	if status != "" && !slices.Contains(notifications.MessageStatuses(), status) {
		return nil, fault.New(fault.InvalidParameter,
			"status: write not_sent, queued, held, sent or failed, or leave it out for all.")
	}
	var found []notifications.Message
	for _, m := range s.messages[r.PathValue("business")] {
		if (status == "" || m.Status == status) && (kind == "" || m.Kind == kind) &&
			(about == "" || m.About.ID.String() == about) {
			found = append(found, m.Message)
		}
	}
	entries, next := cutPage(r, found)
	return newReply(notifications.MessageList{Messages: entries, NextCursor: next})
}

// findMessage returns the message whose id is in the path of the request. Fault: not_found.
func (s *Notifications) findMessage(r *http.Request) (*notifications.WholeMessage, error) {
	all := s.messages[r.PathValue("business")]
	i := slices.IndexFunc(all, func(m notifications.WholeMessage) bool { return m.ID.String() == r.PathValue("id") })
	if i < 0 {
		return nil, fault.New(fault.NotFound, "Message not found")
	}
	return &all[i], nil
}

func (s *Notifications) showMessage(r *http.Request) (*reply, error) {
	m, err := s.findMessage(r)
	if err != nil {
		return nil, err
	}
	return newReply(*m)
}

func (s *Notifications) retryMessage(r *http.Request) (*reply, error) {
	m, err := s.findMessage(r)
	if err != nil {
		return nil, err
	}
	if m.Status != notifications.MessageFailed {
		return nil, fault.New(fault.Conflict, "This message was sent; only one that failed or was not sent is sent "+
			"again.")
	}
	m.Status, m.Reason = notifications.MessageQueued, ""
	return &reply{status: http.StatusAccepted, value: m.Message}, nil
}

// previewMessage answers with HTML that has the kind, the language and the texts of the sample.
func (s *Notifications) previewMessage(r *http.Request) (*reply, error) {
	var sample notifications.SampleMessage
	if err := json.NewDecoder(r.Body).Decode(&sample); err != nil {
		return nil, err
	}
	text := sample.Kind + " in " + sample.Language
	for _, own := range []*string{sample.Intro, sample.Note} {
		if own != nil {
			text += ": " + *own
		}
	}
	return newReply(notifications.MessagePreview{Language: sample.Language, Subject: "Your booking", Text: text,
		HTML: "<!DOCTYPE html><title>Your booking</title><p>" + html.EscapeString(text) + "</p>"})
}

// testMessage stores a test message. It refuses the message for [RefusedAddress].
func (s *Notifications) testMessage(r *http.Request) (*reply, error) {
	var test notifications.TestMessage
	if err := json.NewDecoder(r.Body).Decode(&test); err != nil {
		return nil, err
	}
	if test.To == RefusedAddress {
		return nil, fault.New(fault.Conflict, "The mail server refuses this mail.")
	}
	s.tests = append(s.tests, test)
	return newReply(notifications.TestResult{Recipient: test.To, Subject: "Test: Your booking",
		Status: notifications.MessageSent})
}

// ListTests returns the test messages that console has sent by the fake.
func (s *Notifications) ListTests() []notifications.TestMessage {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.tests)
}
