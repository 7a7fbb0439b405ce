package command

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/slotmesh/slotmesh/libs/contracts/adminapi"
)

// pageSize is the maximum number of entries on one page of the admin API.
const pageSize = 1000

// client calls the admin API. The methods of the client return *fault.Error if the server refused a request, and
// *unreachableError if the server gave no readable answer.
type client struct{ *adminapi.Client }

// unreachableError means that the server gave no readable answer.
type unreachableError struct{ sentence string }

func (u *unreachableError) Error() string { return u.sentence }

func (c *command) client() (*client, error) {
	base, err := c.resolveServer()
	if err != nil {
		return nil, err
	}
	token, err := c.resolveToken(base)
	if err != nil {
		return nil, err
	}
	return &client{adminapi.New(base, token, c.timeout, attempts)}, nil
}

func (c *client) close() { c.Close() }

// attempts is the maximum number of times that the client sends a request.
const attempts = 3

// do sends a request and returns the body of the answer.
func (c *client) do(ctx context.Context, r adminapi.Request) ([]byte, error) {
	answer, err := c.Send(ctx, r)
	if err != nil {
		return nil, c.explainError(err)
	}
	return answer.Body, nil
}

// explainError replaces an error that means that the server gave no answer. The new error has a message that advises
// the user what to do. explainError returns other errors unchanged.
func (c *client) explainError(err error) error {
	var lost *adminapi.NoAnswerError
	if !errors.As(err, &lost) {
		return err
	}
	return &unreachableError{fmt.Sprintf("%s does not answer: %s", c.Base, explainConnectionError(lost.Unwrap()))}
}

// call sends a request and decodes the JSON answer into the argument `out`. The body of the request is the argument
// `in`, encoded as JSON; if `in` is nil, the request has no body. If `out` is nil, call ignores the body of the answer.
func (c *client) call(ctx context.Context, method, path string, in, out any) error {
	r := adminapi.Request{Method: method, Path: path}
	if in != nil {
		body, err := json.Marshal(in)
		if err != nil {
			return err
		}
		r.Body, r.Header = body, map[string]string{"Content-Type": "application/json"}
	}
	body, err := c.do(ctx, r)
	if err != nil || out == nil {
		return err
	}
	return c.read(body, out)
}

func (c *client) read(body []byte, out any) error {
	if err := json.Unmarshal(body, out); err != nil {
		return &unreachableError{c.Base + " gave an answer that is not the admin API's; check --server."}
	}
	return nil
}

// readPages reads all pages of a list. The argument `member` is the name of the list's field in the answer.
func readPages[T any](ctx context.Context, c *client, path, member string, query url.Values) ([]T, error) {
	return readUpTo[T](ctx, c, path, member, query, 0)
}

// readUpTo reads the first entries of a list. The argument `most` is the maximum number of entries; 0 means all. The
// argument `member` is the name of the list's field in the answer.
func readUpTo[T any](ctx context.Context, c *client, path, member string, query url.Values, most int) ([]T, error) {
	all, _, err := readWithLast[T](ctx, c, path, member, query, most)
	return all, err
}

// readWithLast reads the same entries as readUpTo. The second result has the fields of the last page.
func readWithLast[T any](ctx context.Context, c *client, path, member string, query url.Values, most int) ([]T,
	map[string]json.RawMessage, error) {
	all := []T{}
	for {
		query.Set("limit", strconv.Itoa(pageSize))
		if most > 0 {
			query.Set("limit", strconv.Itoa(min(pageSize, most-len(all))))
		}
		var page map[string]json.RawMessage
		if err := c.call(ctx, http.MethodGet, path+"?"+query.Encode(), nil, &page); err != nil {
			return nil, nil, err
		}
		var entries []T
		if err := c.read(page[member], &entries); err != nil {
			return nil, nil, err
		}
		all = append(all, entries...)
		var next string
		_ = json.Unmarshal(page["next_cursor"], &next) // the field is absent on the last page
		if next == "" || next == query.Get("cursor") || most > 0 && len(all) >= most {
			return all, page, nil
		}
		query.Set("cursor", next)
	}
}

// buildPath returns the path of a business in the admin API, or the path of an object below it.
func buildPath(slug string, rest ...string) string { return adminapi.BusinessPath(slug, rest...) }

// isJSON reports whether the text of a manifest is JSON. The server uses the same rule to decide between JSON and YAML.
func isJSON(text []byte) bool {
	return strings.HasPrefix(strings.TrimLeft(strings.TrimPrefix(string(text[:min(len(text), 4096)]), "\ufeff"),
		" \t\r\n"), "{")
}
