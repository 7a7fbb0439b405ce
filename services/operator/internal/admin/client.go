// Package admin calls the admin API as far as the operator needs it. Its errors are those of adminapi.Client.
package admin

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/adminapi"
	"github.com/slotmesh/slotmesh/libs/peer/booking"
	"github.com/slotmesh/slotmesh/libs/peer/catalog"
)

// keysPage is the largest page of keys.
const keysPage = 1000

// attempts is how often a request is sent at most, under one Idempotency-Key; what fails nonetheless is tried again, later, by
// whoever asked.
const attempts = 2

// Client calls one admin API.
type Client struct{ api *adminapi.Client }

// New returns a client of the admin API at base, which shows token. Timeout bounds each request.
func New(base, token string, timeout time.Duration) *Client {
	api := adminapi.New(base, token, timeout, attempts)
	api.RepeatTimeouts = true // nobody waits for it
	return &Client{api}
}

// Close closes idle connections.
func (c *Client) Close() { c.api.Close() }

// Published is a version of a business as it was published.
type Published struct {
	Version int64
	Text    []byte // the manifest, where it was asked for
}

// Newest reads the newest version of a business as JSON. Errors: business_not_found.
func (c *Client) Newest(ctx context.Context, slug string) (*Published, error) {
	answer, err := c.api.Send(ctx, adminapi.Request{Method: http.MethodGet, Path: adminapi.At(slug), Header: map[string]string{"Accept": catalog.MediaJSON}})
	if err != nil {
		return nil, err
	}
	version, err := strconv.Unquote(answer.Header.Get("ETag"))
	if err != nil {
		return nil, fmt.Errorf("the admin API gave no version: %q", answer.Header.Get("ETag"))
	}
	number, err := strconv.ParseInt(version, 10, 64)
	if err != nil {
		return nil, fmt.Errorf("the admin API gave no version: %w", err)
	}
	return &Published{Version: number, Text: answer.Body}, nil
}

// Publish publishes a manifest, only while after is the newest version; 0: whatever is. It returns the new version. Errors:
// precondition_failed; invalid_parameter, whose problems [Problems] reads.
func (c *Client) Publish(ctx context.Context, slug string, text []byte, after int64) (int64, error) {
	header := map[string]string{"Content-Type": catalog.MediaJSON}
	if after != 0 {
		header["If-Match"] = strconv.Quote(strconv.FormatInt(after, 10))
	}
	answer, err := c.api.Send(ctx, adminapi.Request{Method: http.MethodPut, Path: adminapi.At(slug), Header: header, Body: text})
	if err != nil {
		return 0, err
	}
	var published struct {
		Version int64 `json:"version"`
	}
	return published.Version, read(answer.Body, &published)
}

// Remove removes a business. Errors: conflict while customers are expected, unless it is forced; business_not_found.
func (c *Client) Remove(ctx context.Context, slug string, force bool) error {
	path := adminapi.At(slug)
	if force {
		path += "?force=true"
	}
	_, err := c.api.Send(ctx, adminapi.Request{Method: http.MethodDelete, Path: path})
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
	answer, err := c.api.Send(ctx, adminapi.Request{
		Method: http.MethodPost, Path: adminapi.At(slug, "keys"), Header: map[string]string{"Content-Type": catalog.MediaJSON}, Body: body,
	})
	if err != nil {
		return nil, err
	}
	var key Key
	return &key, read(answer.Body, &key)
}

// Keys lists the keys of a business that have a name and are not revoked, oldest first.
func (c *Client) Keys(ctx context.Context, slug, name string) ([]Key, error) {
	var found []Key
	query := url.Values{"limit": {strconv.Itoa(keysPage)}}
	for {
		answer, err := c.api.Send(ctx, adminapi.Request{Method: http.MethodGet, Path: adminapi.At(slug, "keys") + "?" + query.Encode()})
		if err != nil {
			return nil, err
		}
		var page struct {
			Keys []Key  `json:"keys"`
			Next string `json:"next_cursor"`
		}
		if err := read(answer.Body, &page); err != nil {
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
	_, err := c.api.Send(ctx, adminapi.Request{Method: http.MethodDelete, Path: adminapi.At(slug, "keys", id.String())})
	return err
}

func read(body []byte, out any) error {
	if err := json.Unmarshal(body, out); err != nil {
		return fmt.Errorf("what answers is not the admin API: %w", err)
	}
	return nil
}
