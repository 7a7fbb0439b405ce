package consoletest

import (
	"encoding/json"
	"net/http"
	"slices"
	"sync"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/contracts/notifications"
	"github.com/slotmesh/slotmesh/libs/values/fault"
)

// Secret is the secret of all webhooks in a [Fixture].
const Secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwMfKQ9r8GKYo="

// Notifications is a fake of the notifications service that keeps webhooks and messages in memory.
type Notifications struct {
	mu             sync.Mutex
	webhooks       map[string][]notifications.Webhook
	deliveries     []notifications.Delivery
	storedMessages map[string][]Message
	isUnavailable  bool
	messages       map[string][]notifications.WholeMessage
	mails          []notifications.Mail
	tests          []notifications.TestMessage
	mailSent       chan struct{} // closed when the next mail is sent
}

// Handler serves those requests of notifications' internal API that console sends.
func (s *Notifications) Handler() http.Handler {
	s.webhooks, s.messages = map[string][]notifications.Webhook{}, map[string][]notifications.WholeMessage{}
	s.storedMessages, s.mailSent = map[string][]Message{}, make(chan struct{})
	mux := http.NewServeMux()
	const business = "/internal/businesses/{business}"
	for pattern, answer := range map[string]func(*http.Request) (*reply, error){
		"POST " + business + "/webhooks":                s.createWebhook,
		"GET " + business + "/webhooks":                 s.listWebhooks,
		"PATCH " + business + "/webhooks/{id}":          s.changeWebhook,
		"DELETE " + business + "/webhooks/{id}":         s.removeWebhook,
		"POST " + business + "/webhooks/{id}/rotate":    s.rotateWebhook,
		"POST " + business + "/webhooks/{id}/test":      s.testWebhook,
		"GET " + business + "/webhooks/{id}/deliveries": s.listDeliveries,
		"POST " + business + "/deliveries/{id}/retry":   s.retryDelivery,
		"POST " + business + "/customers/erase":         s.eraseCustomer,
		"POST " + business + "/customers/held":          s.exportCustomer,
		"GET " + business + "/messages":                 s.listMessages,
		"GET " + business + "/messages/{id}":            s.showMessage,
		"POST " + business + "/messages/{id}/retry":     s.retryMessage,
		"POST " + business + "/messages/preview":        s.previewMessage,
		"POST " + business + "/messages/test":           s.testMessage,
		"POST /internal/mails":                          s.sendMail,
	} {
		mux.Handle(pattern, serveLocked(&s.mu, answer))
	}
	return mux
}

func (s *Notifications) createWebhook(r *http.Request) (*reply, error) {
	var newWebhook notifications.NewWebhook
	if err := json.NewDecoder(r.Body).Decode(&newWebhook); err != nil {
		return nil, err
	}
	if newWebhook.URL == "http://10.0.0.1" {
		return nil, fault.New(fault.InvalidParameter, "url: only https is sent to.")
	}
	webhook := notifications.Webhook{ID: uuid.New(), URL: newWebhook.URL, Events: newWebhook.Events, Active: true,
		CreatedAt: Epoch, CreatedBy: findCreator(r)}
	of := r.PathValue("business")
	s.webhooks[of] = append(s.webhooks[of], webhook)
	return &reply{status: http.StatusCreated, value: notifications.SecretWebhook{Webhook: webhook, Secret: Secret}}, nil
}

func (s *Notifications) listWebhooks(r *http.Request) (*reply, error) {
	entries, next := cutPage(r, s.webhooks[r.PathValue("business")])
	return newReply(notifications.WebhookList{Webhooks: entries, NextCursor: next})
}

// findWebhook returns the webhook whose id is in the path of the request. Fault: not_found.
func (s *Notifications) findWebhook(r *http.Request) (*notifications.Webhook, error) {
	all := s.webhooks[r.PathValue("business")]
	i := slices.IndexFunc(all, func(w notifications.Webhook) bool { return w.ID.String() == r.PathValue("id") })
	if i < 0 {
		return nil, fault.New(fault.NotFound, "Webhook not found")
	}
	return &all[i], nil
}

func (s *Notifications) changeWebhook(r *http.Request) (*reply, error) {
	w, err := s.findWebhook(r)
	if err != nil {
		return nil, err
	}
	var change notifications.WebhookChange
	if err := json.NewDecoder(r.Body).Decode(&change); err != nil {
		return nil, err
	}
	if change.URL != nil {
		w.URL = *change.URL
	}
	if change.Events != nil {
		w.Events = change.Events
	}
	if change.Active != nil {
		w.Active = *change.Active
	}
	return newReply(*w)
}

func (s *Notifications) removeWebhook(r *http.Request) (*reply, error) {
	w, err := s.findWebhook(r)
	if err != nil {
		return nil, err
	}
	of, id := r.PathValue("business"), w.ID
	s.webhooks[of] = slices.DeleteFunc(s.webhooks[of], func(w notifications.Webhook) bool { return w.ID == id })
	return &reply{status: http.StatusNoContent}, nil
}

func (s *Notifications) rotateWebhook(r *http.Request) (*reply, error) {
	w, err := s.findWebhook(r)
	if err != nil {
		return nil, err
	}
	return newReply(notifications.SecretWebhook{Webhook: *w, Secret: Secret})
}

func (s *Notifications) testWebhook(r *http.Request) (*reply, error) {
	w, err := s.findWebhook(r)
	if err != nil {
		return nil, err
	}
	status := http.StatusServiceUnavailable
	sent := notifications.Delivery{
		Body: json.RawMessage(`{"type":"webhook.test"}`),
		ID:   uuid.New(), WebhookID: w.ID, EventID: uuid.New(), Type: "webhook.test",
		Subject:  notifications.Subject{Kind: "webhook", ID: w.ID},
		Sequence: 1, Status: notifications.DeliveryPending, CreatedAt: Epoch,
		Attempts: []notifications.DeliveryAttempt{{Number: 1, At: Epoch, Status: &status, Answer: "later"}},
	}
	s.deliveries = append(s.deliveries, sent)
	return &reply{status: http.StatusAccepted, value: sent}, nil
}

func (s *Notifications) listDeliveries(r *http.Request) (*reply, error) {
	if _, err := s.findWebhook(r); err != nil {
		return nil, err
	}
	status := r.URL.Query().Get("status")
	var found []notifications.Delivery
	for _, d := range s.deliveries {
		if d.WebhookID.String() == r.PathValue("id") && (status == "" || d.Status == status) {
			found = append(found, d)
		}
	}
	entries, next := cutPage(r, found)
	return newReply(notifications.DeliveryList{Deliveries: entries, NextCursor: next})
}

func (s *Notifications) retryDelivery(r *http.Request) (*reply, error) {
	i := slices.IndexFunc(s.deliveries, func(d notifications.Delivery) bool {
		return d.ID.String() == r.PathValue("id")
	})
	if i < 0 {
		return nil, fault.New(fault.NotFound, "Delivery not found")
	}
	return &reply{status: http.StatusAccepted, value: s.deliveries[i]}, nil
}
