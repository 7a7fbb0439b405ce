// Package admin calls the admin API as far as the operator needs it. Its errors are [*fault.Error] where the server refused, and
// others where no answer came.
package admin

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/fault"
	"github.com/slotmesh/slotmesh/libs/idempotency"
	"github.com/slotmesh/slotmesh/libs/manifest"
	"github.com/slotmesh/slotmesh/libs/peer/booking"
	"github.com/slotmesh/slotmesh/libs/peer/catalog"
)

// maxAnswer bounds what is read of an answer: a manifest and then some.
const maxAnswer = manifest.MaxBytes + 1<<20

// keysPage is the largest page of keys.
const keysPage = 1000

// attempts is how often a request is sent at most, under one Idempotency-Key; what fails nonetheless is tried again, later, by
// whoever asked.
const attempts = 2

// Client calls one admin API.
type Client struct {
	base, token string
	http        *http.Client
}

// New returns a client of the admin API at base, which shows token. Timeout bounds each request.
func New(base, token string, timeout time.Duration) *Client {
	return &Client{base: base, token: token, http: &http.Client{Transport: http.DefaultTransport.(*http.Transport).Clone(), Timeout: timeout}}
}

// Close closes idle connections.
func (c *Client) Close() { c.http.CloseIdleConnections() }

// Published is a version of a business as it was published.
type Published struct {
	Version int64
	Text    []byte // the manifest, where it was asked for
}

// Newest reads the newest version of a business as JSON. Errors: business_not_found.
func (c *Client) Newest(ctx context.Context, slug string) (*Published, error) {
	answer, err := c.send(ctx, request{method: http.MethodGet, path: at(slug), header: map[string]string{"Accept": catalog.MediaJSON}})
	if err != nil {
		return nil, err
	}
	version, err := strconv.Unquote(answer.etag)
	if err != nil {
		return nil, fmt.Errorf("the admin API gave no version: %q", answer.etag)
	}
	number, err := strconv.ParseInt(version, 10, 64)
	if err != nil {
		return nil, fmt.Errorf("the admin API gave no version: %w", err)
	}
	return &Published{Version: number, Text: answer.body}, nil
}

// Publish publishes a manifest, only while after is the newest version; 0: whatever is. It returns the new version. Errors:
// precondition_failed; invalid_parameter, whose problems [Problems] reads.
func (c *Client) Publish(ctx context.Context, slug string, text []byte, after int64) (int64, error) {
	header := map[string]string{"Content-Type": catalog.MediaJSON}
	if after != 0 {
		header["If-Match"] = strconv.Quote(strconv.FormatInt(after, 10))
	}
	answer, err := c.send(ctx, request{method: http.MethodPut, path: at(slug), header: header, body: text})
	if err != nil {
		return 0, err
	}
	var published struct {
		Version int64 `json:"version"`
	}
	return published.Version, read(answer.body, &published)
}

// Remove removes a business. Errors: conflict while customers are expected, unless it is forced; business_not_found.
func (c *Client) Remove(ctx context.Context, slug string, force bool) error {
	path := at(slug)
	if force {
		path += "?force=true"
	}
	_, err := c.send(ctx, request{method: http.MethodDelete, path: path})
	return err
}

// Key is an API key. Secret is in the answer that makes it alone.
type Key struct {
	ID        uuid.UUID  `json:"id"`
	Name      string     `json:"name"`
	Scope     string     `json:"scope"`
	Secret    string     `json:"key"`
	Prefix    string     `json:"prefix"`
	CreatedAt time.Time  `json:"created_at"`
	ExpiresAt *time.Time `json:"expires_at"`
	RevokedAt *time.Time `json:"revoked_at"`
}

// CreateKey makes a key.
func (c *Client) CreateKey(ctx context.Context, slug, name, scope string) (*Key, error) {
	body, err := json.Marshal(booking.NewKey{Name: name, Scope: scope})
	if err != nil {
		return nil, err
	}
	answer, err := c.send(ctx, request{
		method: http.MethodPost, path: at(slug) + "/keys", header: map[string]string{"Content-Type": catalog.MediaJSON}, body: body,
	})
	if err != nil {
		return nil, err
	}
	var key Key
	return &key, read(answer.body, &key)
}

// Keys lists the keys of a business that have a name and are not revoked, oldest first.
func (c *Client) Keys(ctx context.Context, slug, name string) ([]Key, error) {
	var found []Key
	query := url.Values{"limit": {strconv.Itoa(keysPage)}}
	for {
		answer, err := c.send(ctx, request{method: http.MethodGet, path: at(slug) + "/keys?" + query.Encode()})
		if err != nil {
			return nil, err
		}
		var page struct {
			Keys []Key  `json:"keys"`
			Next string `json:"next_cursor"`
		}
		if err := read(answer.body, &page); err != nil {
			return nil, err
		}
		for _, key := range page.Keys {
			if key.Name == name && key.RevokedAt == nil {
				found = append(found, key)
			}
		}
		if page.Next == "" || page.Next == query.Get("cursor") {
			return found, nil
		}
		query.Set("cursor", page.Next)
	}
}

// Revoke ends a key at once. Errors: not_found.
func (c *Client) Revoke(ctx context.Context, slug string, id uuid.UUID) error {
	_, err := c.send(ctx, request{method: http.MethodDelete, path: at(slug) + "/keys/" + id.String()})
	return err
}

func at(slug string) string { return "/admin/businesses/" + url.PathEscape(slug) }

type request struct {
	method, path string
	header       map[string]string
	body         []byte
}

type answer struct {
	body []byte
	etag string
}

// send sends a request, and once more under the same Idempotency-Key where no answer came.
func (c *Client) send(ctx context.Context, r request) (*answer, error) {
	key := uuid.NewString()
	for attempt := 1; ; attempt++ {
		got, err := c.once(ctx, r, key)
		var refused *fault.Error
		if err == nil || errors.As(err, &refused) || attempt == attempts || ctx.Err() != nil {
			return got, err
		}
	}
}

func (c *Client) once(ctx context.Context, r request, key string) (*answer, error) {
	call, err := http.NewRequestWithContext(ctx, r.method, c.base+r.path, bytes.NewReader(r.body))
	if err != nil {
		return nil, err
	}
	call.Header.Set("Authorization", "Bearer "+c.token)
	if r.method != http.MethodGet {
		call.Header.Set(idempotency.Header, key)
	}
	for name, value := range r.header {
		call.Header.Set(name, value)
	}
	got, err := c.http.Do(call)
	if err != nil {
		return nil, noAnswer(err)
	}
	defer func() { _ = got.Body.Close() }()
	body, err := io.ReadAll(io.LimitReader(got.Body, maxAnswer))
	if err != nil {
		return nil, noAnswer(err)
	}
	if got.StatusCode >= http.StatusBadRequest {
		return nil, fault.Decode(got.StatusCode, body, 0)
	}
	return &answer{body: body, etag: got.Header.Get("ETag")}, nil
}

// noAnswer leaves out the request's URL, which net/http would repeat.
func noAnswer(err error) error {
	var wrapped *url.Error
	if errors.As(err, &wrapped) {
		err = wrapped.Err
	}
	return fmt.Errorf("the admin API does not answer: %w", err)
}

func read(body []byte, out any) error {
	if err := json.Unmarshal(body, out); err != nil {
		return fmt.Errorf("what answers is not the admin API: %w", err)
	}
	return nil
}
