package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/fault"
	"github.com/slotmesh/slotmesh/libs/idempotency"
)

// maxAnswer bounds what is read of an answer.
const maxAnswer = 64 << 20

// pageSize is the largest page of the admin API.
const pageSize = "1000"

// client calls the admin API. Its errors are *fault.Error for what the server refused and *unreachable where it did
// not answer.
type client struct {
	base  string
	token string
	http  *http.Client
	pause time.Duration // before a request is sent again
}

// unreachable says that the server gave no answer that could be read.
type unreachable struct {
	sentence string
	timedOut bool // it was waited for as long as --timeout says
}

func (u *unreachable) Error() string { return u.sentence }

// call is one request. Body is sent as it is.
type call struct {
	method string
	path   string
	header map[string]string
	body   []byte
}

func (c *command) client() (*client, error) {
	base, err := c.resolveServer()
	if err != nil {
		return nil, err
	}
	token, err := c.resolveToken(base)
	if err != nil {
		return nil, err
	}
	transport := http.DefaultTransport.(*http.Transport).Clone()
	return &client{base: base, token: token, pause: time.Second / 2, http: &http.Client{Transport: transport, Timeout: c.timeout}}, nil
}

func (c *client) close() { c.http.CloseIdleConnections() }

// attempts is how often a request is sent at most.
const attempts = 3

// do sends a request and returns the body of an answer below status 400. What did not come back, or was refused as something was
// away, is sent again, with the same Idempotency-Key, so that a write is done once.
func (c *client) do(ctx context.Context, r call) ([]byte, error) {
	key := uuid.NewString()
	for attempt := 1; ; attempt++ {
		body, err := c.send(ctx, r, key)
		if attempt == attempts || !worthRepeating(err) {
			return body, err
		}
		select {
		case <-ctx.Done():
			return nil, err
		case <-time.After(c.pause * time.Duration(attempt)):
		}
	}
}

// worthRepeating reports whether the next attempt may go better.
func worthRepeating(err error) bool {
	var refused *fault.Error
	var lost *unreachable
	switch {
	case errors.As(err, &refused):
		return refused.Kind.Status == http.StatusServiceUnavailable || refused.Kind == fault.IdempotencyInProgress
	case errors.As(err, &lost):
		return !lost.timedOut
	}
	return false
}

func (c *client) send(ctx context.Context, r call, key string) ([]byte, error) {
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
	answer, err := c.http.Do(call)
	if err != nil {
		return nil, c.noAnswer(err)
	}
	defer func() { _ = answer.Body.Close() }()
	body, err := io.ReadAll(io.LimitReader(answer.Body, maxAnswer))
	if err != nil {
		return nil, c.noAnswer(err)
	}
	if answer.StatusCode >= http.StatusBadRequest {
		return nil, refusal(answer.StatusCode, body)
	}
	return body, nil
}

// noAnswer leaves out the request's URL, which net/http would repeat.
func (c *client) noAnswer(err error) error {
	var wrapped *url.Error
	if errors.As(err, &wrapped) {
		err = wrapped.Err
	}
	var network net.Error
	return &unreachable{fmt.Sprintf("%s does not answer: %s", c.base, whyAway(err)), errors.As(err, &network) && network.Timeout()}
}

// refusal reads the server's fault; an answer of another shape, as a proxy gives, becomes one without a code.
func refusal(status int, body []byte) error {
	f := fault.Decode(status, body, 0)
	if f.Kind.Code == "" || f.Kind == fault.Internal {
		return &fault.Error{Kind: fault.Kind{Status: status}}
	}
	return f
}

// call sends in as JSON and reads the answer into out; nil sends or reads nothing.
func (c *client) call(ctx context.Context, method, path string, in, out any) error {
	r := call{method: method, path: path}
	if in != nil {
		body, err := json.Marshal(in)
		if err != nil {
			return err
		}
		r.body, r.header = body, map[string]string{"Content-Type": "application/json"}
	}
	body, err := c.do(ctx, r)
	if err != nil || out == nil {
		return err
	}
	return c.read(body, out)
}

func (c *client) read(body []byte, out any) error {
	if err := json.Unmarshal(body, out); err != nil {
		return &unreachable{sentence: c.base + " gave an answer that is not the admin API's; check --server."}
	}
	return nil
}

// pages follows a list to its end. member is the list's name in the answer.
func pages[T any](ctx context.Context, c *client, path, member string, query url.Values) ([]T, error) {
	all := []T{}
	query.Set("limit", pageSize)
	for {
		var page map[string]json.RawMessage
		if err := c.call(ctx, http.MethodGet, path+"?"+query.Encode(), nil, &page); err != nil {
			return nil, err
		}
		var entries []T
		if err := c.read(page[member], &entries); err != nil {
			return nil, err
		}
		all = append(all, entries...)
		var next string
		_ = json.Unmarshal(page["next_cursor"], &next) // left out on the last page
		if next == "" || next == query.Get("cursor") {
			return all, nil
		}
		query.Set("cursor", next)
	}
}

// at is the path of something below a business.
func at(slug string, rest ...string) string {
	path := "/admin/businesses/" + url.PathEscape(slug)
	for _, part := range rest {
		path += "/" + url.PathEscape(part)
	}
	return path
}

// isJSON tells the two formats of a manifest apart as the server does.
func isJSON(text []byte) bool {
	return strings.HasPrefix(strings.TrimLeft(strings.TrimPrefix(string(text[:min(len(text), 4096)]), "\ufeff"), " \t\r\n"), "{")
}
