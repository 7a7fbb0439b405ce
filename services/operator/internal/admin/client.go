// Package admin provides the operator's client of the admin API. The methods of the client return the errors of
// [adminapi.Client].
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

	"github.com/slotmesh/slotmesh/libs/contracts/adminapi"
	"github.com/slotmesh/slotmesh/libs/contracts/booking"
	"github.com/slotmesh/slotmesh/libs/contracts/catalog"
)

// maxKeysPage is the number of keys that [Client.Keys] requests per page.
const maxKeysPage = 1000

// maxAttempts is the maximum number of attempts of one request. All attempts have the same Idempotency-Key, so
// that the request takes effect at most once. If all attempts fail, the reconciler sends a new request later.
const maxAttempts = 2

// Client is a client of one admin API.
type Client struct{ api *adminapi.Client }

// New returns a client of the admin API at the URL `base`. The client authenticates with `token`. The argument
// `timeout` limits the time of each request.
func New(base, token string, timeout time.Duration) *Client {
	api := adminapi.New(base, token, timeout, maxAttempts)
	api.RepeatTimeouts = true // A retry after a timeout is useful, because no person waits for the response.
	return &Client{api}
}

// Close closes the idle connections to the admin API.
func (c *Client) Close() { c.api.Close() }

// Published is a published version of a business.
type Published struct {
	Version int64
	Text    []byte // manifest as JSON; nil if the manifest was not requested
}

// ReadNewest returns the newest version of a business, with its manifest as JSON. Fault: business_not_found.
func (c *Client) ReadNewest(ctx context.Context, slug string) (*Published, error) {
	response, err := c.api.Send(ctx, adminapi.Request{Method: http.MethodGet, Path: adminapi.BusinessPath(slug),
		Header: map[string]string{"Accept": catalog.MediaJSON}})
	if err != nil {
		return nil, err
	}
	version, err := strconv.Unquote(response.Header.Get("ETag"))
	if err != nil {
		return nil, fmt.Errorf("the admin API gave no version: %q", response.Header.Get("ETag"))
	}
	number, err := strconv.ParseInt(version, 10, 64)
	if err != nil {
		return nil, fmt.Errorf("the admin API gave no version: %w", err)
	}
	return &Published{Version: number, Text: response.Body}, nil
}

// Publish publishes a manifest and returns the number of the new version. If currentVersion is not 0, it must be the
// number of the newest version. Faults: precondition_failed if it is not; invalid_parameter if the manifest has
// problems, which manifest.ProblemsOf returns.
func (c *Client) Publish(ctx context.Context, slug string, text []byte, currentVersion int64) (int64, error) {
	header := map[string]string{"Content-Type": catalog.MediaJSON}
	if currentVersion != 0 {
		header["If-Match"] = strconv.Quote(strconv.FormatInt(currentVersion, 10))
	}
	response, err := c.api.Send(ctx, adminapi.Request{Method: http.MethodPut, Path: adminapi.BusinessPath(slug),
		Header: header,
		Body:   text})
	if err != nil {
		return 0, err
	}
	var published struct {
		Version int64 `json:"version"`
	}
	return published.Version, decodeJSON(response.Body, &published)
}

// Remove removes a business. Faults: business_not_found; conflict if the business has future bookings and the argument
// `force` is false.
func (c *Client) Remove(ctx context.Context, slug string, force bool) error {
	path := adminapi.BusinessPath(slug)
	if force {
		path += "?force=true"
	}
	_, err := c.api.Send(ctx, adminapi.Request{Method: http.MethodDelete, Path: path})
	return err
}

// Key is an API key of a business. Only the response of [Client.CreateKey] contains Secret.
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

// CreateKey creates an API key with this name and scope for the business.
func (c *Client) CreateKey(ctx context.Context, slug, name, scope string) (*Key, error) {
	body, err := json.Marshal(booking.NewKey{Name: name, Scope: scope})
	if err != nil {
		return nil, err
	}
	response, err := c.api.Send(ctx, adminapi.Request{
		Method: http.MethodPost, Path: adminapi.BusinessPath(slug, "keys"),
		Header: map[string]string{"Content-Type": catalog.MediaJSON}, Body: body,
	})
	if err != nil {
		return nil, err
	}
	var key Key
	return &key, decodeJSON(response.Body, &key)
}

// Keys returns the keys of a business with this name that are not revoked, the oldest first.
func (c *Client) Keys(ctx context.Context, slug, name string) ([]Key, error) {
	var found []Key
	query := url.Values{"limit": {strconv.Itoa(maxKeysPage)}}
	for {
		response, err := c.api.Send(ctx,
			adminapi.Request{Method: http.MethodGet, Path: adminapi.BusinessPath(slug, "keys") + "?" +
				query.Encode()})
		if err != nil {
			return nil, err
		}
		var page struct {
			Keys []Key  `json:"keys"`
			Next string `json:"next_cursor"`
		}
		if err := decodeJSON(response.Body, &page); err != nil {
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

// Revoke revokes a key. The key is invalid from then on. Fault: not_found.
func (c *Client) Revoke(ctx context.Context, slug string, id uuid.UUID) error {
	_, err := c.api.Send(ctx,
		adminapi.Request{Method: http.MethodDelete, Path: adminapi.BusinessPath(slug, "keys", id.String())})
	return err
}

func decodeJSON(body []byte, out any) error {
	if err := json.Unmarshal(body, out); err != nil {
		return fmt.Errorf("what answers is not the admin API: %w", err)
	}
	return nil
}
