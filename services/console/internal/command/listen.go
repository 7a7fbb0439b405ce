package command

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/spf13/cobra"

	"github.com/slotmesh/slotmesh/libs/contracts/event"
	"github.com/slotmesh/slotmesh/libs/platform/clock"
)

const (
	listenInterval = 2 * time.Second
	listenOverlap  = time.Minute      // each poll also reads this long before the newest event; events may be late
	forwardTimeout = 15 * time.Second // timeout of one request, as for webhooks
	secretPrefix   = "whsec_"
	secretBytes    = 32
)

// listener forwards the events of a business to a receiver on this machine. The listener's requests have the same body,
// headers and signature as webhooks.
type listener struct {
	slug   string
	to     string
	events []string
	secret []byte
	seen   map[uuid.UUID]bool
	out    io.Writer
}

func (c *command) newListenCommand() *cobra.Command {
	var (
		l    listener
		from string
		once bool
	)
	cmd := c.newBusinessCommand("listen SLUG --forward-to URL",
		"Forward events to a receiver on this machine, signed like webhooks", 1,
		func(cmd *cobra.Command, args []string, client *client) error {
			if to, err := url.Parse(l.to); err != nil || to.Scheme != "http" && to.Scheme != "https" || to.Host == "" {
				return fmt.Errorf("--forward-to: %q is no URL; write one such as http://localhost:3000/hooks", l.to)
			}
			since := clock.System().Now()
			if from != "" {
				var err error
				if since, err = time.Parse(time.RFC3339, from); err != nil {
					return fmt.Errorf("--from: %q is not an instant; write one such as 2027-03-01T09:00:00Z", from)
				}
			}
			l.slug, l.out, l.seen, l.secret = args[0], cmd.OutOrStdout(), map[uuid.UUID]bool{},
				make([]byte, secretBytes)
			_, _ = rand.Read(l.secret) // never fails
			fmt.Fprintf(cmd.ErrOrStderr(), "The secret of this listener is %s%s\n", secretPrefix,
				base64.StdEncoding.EncodeToString(l.secret))
			return l.run(cmd.Context(), client, since, once)
		})
	cmd.Long = `Follow the events of a business and send each of them to a URL as a webhook: the same body, headers and signature. It is for developing
a receiver. Each run makes a secret of its own. An event is sent once, whatever the receiver answers.`
	cmd.Example = `  slotmesh webhooks listen harbor --forward-to http://localhost:3000/hooks
  slotmesh webhooks listen harbor --forward-to http://localhost:3000/hooks --events booking.created --from 2027-03-01T09:00:00Z --once`
	flags := cmd.Flags()
	flags.StringVar(&l.to, "forward-to", "", "where events are sent to, such as http://localhost:3000/hooks")
	flags.StringSliceVar(&l.events, "events", []string{"*"}, `types of events, separated by commas; "*" for all`)
	flags.StringVar(&from, "from", "", "also events from this instant on; left out, those from now on")
	flags.BoolVar(&once, "once", false, "forward the events that there are, and end")
	return mustRequire(cmd, "forward-to")
}

// run polls for events and forwards them until ctx ends. The argument `since` is the time of the first event to
// forward. If the argument `once` is true, run polls only once.
func (l *listener) run(ctx context.Context, client *client, since time.Time, once bool) error {
	tick := time.NewTicker(listenInterval)
	defer tick.Stop()
	for {
		newest, err := l.forward(ctx, client, since)
		if err != nil || once {
			return err
		}
		if before := newest.Add(-listenOverlap); before.After(since) {
			since = before
		}
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}

// forward sends the events at or after the time `since` to the receiver, oldest first. It skips the events that this
// listener has already sent. It returns the time of the newest event.
func (l *listener) forward(ctx context.Context, client *client, since time.Time) (time.Time, error) {
	query := url.Values{"from": {since.UTC().Format(time.RFC3339Nano)}}
	list, err := readPages[event.Event](ctx, client, buildPath(l.slug, "events"), "events", query)
	if err != nil {
		return since, err
	}
	newest := since
	for _, e := range slices.Backward(list) {
		if e.At.After(newest) {
			newest = e.At
		}
		if l.seen[e.ID] {
			continue
		}
		l.seen[e.ID] = true
		if !l.wants(e.Type) {
			continue
		}
		status, err := l.send(ctx, e)
		if ctx.Err() != nil {
			return newest, nil
		}
		if err != nil {
			status = "no answer: " + err.Error()
		}
		fmt.Fprintf(l.out, "%s  %s  %s  %s\n", e.At.UTC().Format(time.RFC3339), e.Type, e.Subject.ID, status)
	}
	return newest, nil
}

// wants reports whether the listener forwards events of a type. It forwards a type if the user has requested it and
// webhooks can deliver it.
func (l *listener) wants(t event.Type) bool {
	return slices.Contains(event.Types(), t) && (slices.Contains(l.events, "*") || slices.Contains(l.events, string(t)))
}

// send sends one event to the receiver, and returns the HTTP status of the answer.
func (l *listener) send(ctx context.Context, e event.Event) (string, error) {
	body, err := e.Webhook(l.slug)
	if err != nil {
		return "", err
	}
	ctx, cancel := context.WithTimeout(ctx, forwardTimeout)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, l.to, bytes.NewReader(body))
	if err != nil {
		return "", err
	}
	r.Header.Set("Content-Type", "application/json")
	l.sign(r.Header, e.ID.String(), clock.System().Now(), body)
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		var failed *url.Error
		if errors.As(err, &failed) {
			err = failed.Err
		}
		return "", err
	}
	defer func() { _ = answer.Body.Close() }()
	return strings.TrimSpace(answer.Status), nil
}

// sign sets the headers of Standard Webhooks (standardwebhooks.com), including the signature of the body.
func (l *listener) sign(header http.Header, id string, at time.Time, body []byte) {
	timestamp := strconv.FormatInt(at.Unix(), 10)
	mac := hmac.New(sha256.New, l.secret)
	_, _ = mac.Write([]byte(id + "." + timestamp + "."))
	_, _ = mac.Write(body)
	header.Set("webhook-id", id)
	header.Set("webhook-timestamp", timestamp)
	header.Set("webhook-signature", "v1,"+base64.StdEncoding.EncodeToString(mac.Sum(nil)))
}
