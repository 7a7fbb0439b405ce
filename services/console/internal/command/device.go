package command

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"time"

	"github.com/mattn/go-isatty"

	"github.com/slotmesh/slotmesh/libs/contracts/adminapi"
)

const (
	deviceClient = "slotmesh"
	deviceGrant  = "urn:ietf:params:oauth:grant-type:device_code"
	// minPollInterval is the time between two polls for the token if the server sends no interval. After each answer
	// "slow_down", the command adds minPollInterval to the interval (RFC 8628, 3.5).
	minPollInterval = 5 * time.Second
)

// device is the server's answer to the start of a sign-in (RFC 8628). It has the codes, the URL that the person opens,
// and the interval between two polls.
type device struct {
	Code     string `json:"device_code"`
	UserCode string `json:"user_code"`
	Address  string `json:"verification_uri_complete"`
	Interval int    `json:"interval"` // seconds
}

// tokenAnswer is the server's answer to a poll for the token. It has either a token or an OAuth error.
type tokenAnswer struct {
	Token string `json:"access_token"`
	Error string `json:"error"`
}

// isTerminal reports whether standard input is a terminal, which means that a person runs the command.
func (h Host) isTerminal() bool {
	file, ok := h.Stdin.(*os.File)
	return ok && isatty.IsTerminal(file.Fd())
}

// wait waits for the duration `d`, or until ctx ends.
func (h Host) wait(ctx context.Context, d time.Duration) error {
	if h.Wait != nil {
		return h.Wait(ctx, d)
	}
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}

// requestToken prints a code, and waits until a person confirms the code in a browser. It returns the token that the
// server then issues to this machine (RFC 8628).
func (c *command) requestToken(ctx context.Context, server string) (string, error) {
	client := &client{adminapi.New(server, "", c.timeout, 1)}
	defer client.close()
	name, _ := os.Hostname() // if name is "", the server shows the program's name
	var begun device
	if err := client.postForm(ctx, "/device/authorization",
		url.Values{"client_id": {deviceClient}, "device_name": {name}},
		&begun); err != nil {
		return "", err
	}
	if begun.Code == "" || begun.UserCode == "" {
		return "", client.read(nil, &begun)
	}
	_, _ = fmt.Fprintf(c.host.Stderr, "Open %s\nand confirm the code %s\n", begun.Address, begun.UserCode)
	every := minPollInterval
	if begun.Interval > 0 {
		every = time.Duration(begun.Interval) * time.Second
	}
	for {
		if err := c.host.wait(ctx, every); err != nil {
			return "", &localError{errors.New("nobody has confirmed the code")}
		}
		var answer tokenAnswer
		if err := client.postForm(ctx, "/device/token",
			url.Values{"client_id": {deviceClient}, "grant_type": {deviceGrant},
				"device_code": {begun.Code}}, &answer); err != nil {
			return "", err
		}
		switch answer.Error {
		case "":
			return answer.Token, nil
		case "authorization_pending":
		case "slow_down":
			every += minPollInterval
		case "access_denied":
			return "", &localError{errors.New("it was refused in the browser")}
		case "expired_token":
			return "", &localError{errors.New("nobody has confirmed the code in time; run slotmesh login again")}
		default:
			return "", &localError{fmt.Errorf("the server gives no token: %.100q", answer.Error)}
		}
	}
}

// postForm sends a POST request with form values, as OAuth requires, and decodes the answer into `out`. If the answer
// is an OAuth error, postForm decodes the error's code into a field of `out` and returns nil.
func (c *client) postForm(ctx context.Context, path string, form url.Values, out any) error {
	answer, err := c.Do(ctx, adminapi.Request{
		Method: http.MethodPost, Path: path,
		Header: map[string]string{"Content-Type": "application/x-www-form-urlencoded"}, Body: []byte(form.Encode()),
	}, "")
	if err != nil {
		return c.explainError(err)
	}
	var named tokenAnswer
	if answer.Status >= http.StatusBadRequest && (json.Unmarshal(answer.Body, &named) != nil || named.Error == "") {
		return answer.Refusal()
	}
	return c.read(answer.Body, out)
}
