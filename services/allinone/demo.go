package allinone

import (
	"context"
	_ "embed" // the demo business's manifest
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/slotmesh/slotmesh/libs/contracts/booking"
	"github.com/slotmesh/slotmesh/libs/values/apikey"
)

//go:generate cp ../../charts/slotmesh/files/demo.yaml demo.yaml
//go:embed demo.yaml
var demoManifest []byte

const (
	demoSlug    = "harbor-studio"
	demoService = "Haircut" // the printed commands book a slot of this service
	demoDays    = 62        // number of days in one search for a free slot: the maximum of a request
)

// DemoKeyFile is the name of the file in the home folder that stores the demo's API key. Later starts need the file,
// because the admin API returns an API key only when it creates the key.
const DemoKeyFile = "demo-key"

// Demo is the demo business, with commands and links that a person can try.
type Demo struct {
	Slug string
	Key  string // an API key of the business, with the scope "all"
	// SignIn is the URL at which the owner of the demo business signs in. The URL works only once.
	SignIn string
	// Begin is the URL at which an operator signs in. An operator can set up another business. The URL works only once.
	Begin string
	// Try contains shell commands that list the services, list the free slots of a service, and book a slot. If
	// findFreeSlot finds no slot, Try contains only the first command.
	Try []string
}

// startDemo publishes the demo business and creates the business's API key, if they do not exist yet. startDemo also
// searches for a free slot.
func (p *Process) startDemo(ctx context.Context) error {
	if !p.cfg.WithDemo {
		return nil
	}
	if err := p.publishDemo(ctx); err != nil {
		return fmt.Errorf("the demo business cannot be published: %w", err)
	}
	key, err := p.loadDemoKey(ctx)
	if err != nil {
		return fmt.Errorf("an API key for the demo business cannot be made: %w", err)
	}
	p.Demo = &Demo{Slug: demoSlug, Key: key}
	if p.Demo.SignIn, err = p.createSignInLink(ctx, demoOwner); err != nil {
		return fmt.Errorf("a sign-in link for the demo's owner cannot be made: %w", err)
	}
	if p.Demo.Begin, err = p.createSignInLink(ctx, demoOperator); err != nil {
		return fmt.Errorf("a sign-in link for an operator cannot be made: %w", err)
	}
	if err := p.bookMonth(ctx); err != nil {
		return fmt.Errorf("the demo business's month cannot be booked: %w", err)
	}
	if err := p.setTryCommands(ctx); err != nil {
		return fmt.Errorf("the demo business cannot be read: %w", err)
	}
	return nil
}

// publishDemo publishes the demo business with its pictures if it does not exist. publishDemo leaves an existing demo business as it is,
// because the owner may have changed it.
func (p *Process) publishDemo(ctx context.Context) error {
	status, body, err := p.callAdmin(ctx, http.MethodGet, "", nil)
	if err != nil || status == http.StatusOK {
		return err
	}
	if status == http.StatusNotFound {
		if err := p.beginMonth(); err != nil {
			return err
		}
		status, body, err = p.callAdmin(ctx, http.MethodPut, "", demoManifest)
	}
	if err := checkStatus(http.StatusCreated, status, body, err); err != nil {
		return err
	}
	return p.showDemoPictures(ctx)
}

// loadDemoKey returns the API key in the home folder if the key is still valid. Otherwise it creates a new key.
func (p *Process) loadDemoKey(ctx context.Context) (string, error) {
	path := p.file(DemoKeyFile)
	if stored, err := os.ReadFile(path); err == nil {
		key := strings.TrimSpace(string(stored))
		if isValid, err := p.isValidKey(ctx, key); isValid || err != nil {
			return key, err
		}
	}
	status, body, err := p.callAdmin(ctx, http.MethodPost, "/keys", []byte(`{"name":"demo","scope":"all"}`))
	if err := checkStatus(http.StatusCreated, status, body, err); err != nil {
		return "", err
	}
	var key booking.Key
	if err := json.Unmarshal(body, &key); err != nil {
		return "", err
	}
	return key.Secret, os.WriteFile(path, []byte(key.Secret+"\n"), 0o600)
}

// demoOwner and demoOperator are the invitations of the demo's owner and of an operator. The owner and the operator are
// two people: an owner who is also an operator would see other pages than most owners.
const (
	demoOwner = `{"business": "` + demoSlug +
		`", "email": "owner@harbor.example", "name": "Harbor's owner", "role": "owner", "mail": false}`
	demoOperator = `{"email": "operator@slotmesh.example", "name": "Operator", "role": "operator", "mail": false}`
)

// createSignInLink sends an invitation and returns the URL at which the invited person signs in. If the invited person
// already exists, because an earlier start invited the person, the URL signs in the same person.
func (p *Process) createSignInLink(ctx context.Context, invitation string) (string, error) {
	header := http.Header{"Authorization": {"Bearer " + p.AdminToken}, "Content-Type": {"application/json"}}
	status, body, err := sendRequest(ctx, http.MethodPost, p.AdminURL+"/admin/invitations", header, []byte(invitation))
	if err := checkStatus(http.StatusCreated, status, body, err); err != nil {
		return "", err
	}
	var invited struct{ Link string }
	if err := json.Unmarshal(body, &invited); err != nil {
		return "", err
	}
	return p.AdminURL + invited.Link, nil
}

// isValidKey reports whether the API key `key` is one of the newest keys of the demo business and is not revoked. The
// database may not contain the key, because the home folder may have been used with another database.
func (p *Process) isValidKey(ctx context.Context, key string) (bool, error) {
	if !apikey.IsWellFormed(key) {
		return false, nil
	}
	status, body, err := p.callAdmin(ctx, http.MethodGet, "/keys?limit=1000", nil)
	if err := checkStatus(http.StatusOK, status, body, err); err != nil {
		return false, err
	}
	var list struct{ Keys []booking.Key }
	if err := json.Unmarshal(body, &list); err != nil {
		return false, err
	}
	for _, k := range list.Keys {
		if strings.Contains(k.Prefix, apikey.Display(key)) && k.RevokedAt == nil {
			return true, nil
		}
	}
	return false, nil
}

// callAdmin sends a request about the demo business to the admin API.
func (p *Process) callAdmin(ctx context.Context, method, path string, body []byte) (int, []byte, error) {
	header := http.Header{"Authorization": {"Bearer " + p.AdminToken}, "Content-Type": {"application/json"}}
	if method == http.MethodPut {
		header.Set("Content-Type", "application/yaml")
	}
	return sendRequest(ctx, method, p.AdminURL+"/admin/businesses/"+demoSlug+path, header, body)
}

func checkStatus(want, status int, body []byte, err error) error {
	if err == nil && status != want {
		return fmt.Errorf("the answer is %d: %s", status, strings.TrimSpace(string(body)))
	}
	return err
}

// freeSlot is a free slot of the demo service.
type freeSlot struct {
	ServiceID, StaffID, Date, Time string
}

// setTryCommands sets the shell commands in Demo.Try. The command for a booking contains a slot that is free now.
func (p *Process) setTryCommands(ctx context.Context) error {
	public := p.PublicURL + "/api/public/" + demoSlug
	p.Demo.Try = []string{fmt.Sprintf("curl '%s/services'", public)}
	free, err := p.findFreeSlot(ctx)
	if err != nil || free == nil {
		return err
	}
	book, err := json.Marshal(map[string]any{
		"service_ids": []string{free.ServiceID}, "staff_id": free.StaffID, "date": free.Date, "time": free.Time,
		"customer_name": "Ada Example", "customer_email": "ada@example.com",
	})
	if err != nil {
		return err
	}
	p.Demo.Try = append(p.Demo.Try,
		fmt.Sprintf("curl '%s/slots?date=%s&service_id=%s'", public, free.Date, free.ServiceID),
		fmt.Sprintf("curl -X POST '%s/book' -H 'Authorization: Bearer %s' -H 'Content-Type: application/json' -d '%s'",
			public, p.Demo.Key, book))
	return nil
}

// findFreeSlot returns a free slot of the demo service, or nil if no slot is free. The search begins tomorrow, so that
// the slot is still in the future when a person tries the command.
func (p *Process) findFreeSlot(ctx context.Context) (*freeSlot, error) {
	id, err := p.findDemoService(ctx)
	if err != nil || id == "" {
		return nil, err
	}
	tomorrow := p.clock.Now().AddDate(0, 0, 1)
	window := url.Values{
		"start": {tomorrow.Format(time.DateOnly)}, "end": {tomorrow.AddDate(0, 0, demoDays-1).Format(time.DateOnly)},
		"service_id": {id},
	}
	var calendar struct{ Days map[string]int }
	if err := p.getPublic(ctx, "availability", "available-dates?"+window.Encode(), &calendar); err != nil {
		return nil, err
	}
	date := findFirstFreeDate(calendar.Days)
	if date == "" {
		return nil, nil
	}
	var day struct {
		Slots []struct{ Time, Date, StaffID string }
	}
	if err := p.getPublic(ctx, "availability", "slots?"+url.Values{"date": {date}, "service_id": {id}}.Encode(),
		&day); err != nil {
		return nil, err
	}
	if len(day.Slots) == 0 {
		return nil, errors.New("a day that counts as free has no slots")
	}
	slot := day.Slots[0]
	return &freeSlot{ServiceID: id, StaffID: slot.StaffID, Date: slot.Date, Time: slot.Time}, nil
}

func findFirstFreeDate(days map[string]int) string {
	first := ""
	for date, count := range days {
		if count > 0 && (first == "" || date < first) {
			first = date
		}
	}
	return first
}

// findDemoService returns the id of the demo service, or "" if the owner has removed the service.
func (p *Process) findDemoService(ctx context.Context) (string, error) {
	var list struct{ Services []struct{ ID, Name string } }
	if err := p.getPublic(ctx, "catalog", "services", &list); err != nil {
		return "", err
	}
	for _, s := range list.Services {
		if s.Name == demoService {
			return s.ID, nil
		}
	}
	return "", nil
}

// documentationAddress is an address that is reserved for documentation (RFC 5737). Requests that this process sends
// during its start have this client address. The requests therefore do not count against the rate limits of clients on
// this machine.
const documentationAddress = "192.0.2.1"

// getPublic requests a public path of the demo business and decodes the answer into `target`. The request goes directly
// to the given service, not through the front.
func (p *Process) getPublic(ctx context.Context, service, path string, target any) error {
	address := p.ports.findURL(service) + "/api/public/" + demoSlug + "/" + path
	status, body, err := sendRequest(ctx, http.MethodGet, address,
		http.Header{"X-Forwarded-For": {documentationAddress}}, nil)
	if err := checkStatus(http.StatusOK, status, body, err); err != nil {
		return err
	}
	return json.Unmarshal(body, target)
}
