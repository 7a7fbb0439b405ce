// Package gate checks each request before the SDK of the Model Context Protocol handles it. It checks the headers
// Host and Origin, the API key and the rate limit of the key, and that the body is one message. If it refuses a
// request, the answer is JSON with an error message and a messageCode, as on every other path of the platform.
package gate

import (
	"bytes"
	"context"
	"io"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/contracts/booking"
	"github.com/slotmesh/slotmesh/libs/platform/server"
	"github.com/slotmesh/slotmesh/libs/values/fault"
	"github.com/slotmesh/slotmesh/services/mcp/internal/caller"
)

// Limits counts a request against the limit of its API key; [limits.Gate] implements it. Fault: rate_limited (429).
type Limits interface {
	PassAgent(ctx context.Context, keyID string, answer server.Header) error
}

// Keys checks the API key in an Authorization header; bookingclient.Agents implements it.
type Keys interface {
	CheckKey(ctx context.Context, authorization string) (*booking.CheckedKey, error)
}

// Slugs returns the slug of a business by the id of the business. Fault: business_not_found.
type Slugs interface {
	Slug(ctx context.Context, businessID uuid.UUID) (string, error)
}

// Gate is the HTTP handler of /mcp. It checks requests before the handler of the protocol gets them.
type Gate struct {
	Keys   Keys
	Limits Limits
	Slugs  Slugs
	// Hosts contains the names, in lower case, that requests may have in the header Host. If Hosts is empty,
	// any name is allowed. The exception is a server at a loopback address, which then allows only names of the
	// same machine. Without this exception, a web page could call the server by another name (DNS rebinding).
	Hosts []string
	// Origins contains the web origins, such as https://app.example, whose pages may
	// call the server from a browser. Pages of the server's own host may always call it.
	Origins []string
	// Spare is the time before the deadline of a request that is reserved for sending the response.
	Spare time.Duration
	// Protocol is the HTTP handler of the protocol, which gets the requests that pass the gate.
	Protocol http.Handler
}

// Serve checks a request and passes it on to the handler of the protocol, or refuses it.
func (g *Gate) Serve(w http.ResponseWriter, r *http.Request) error {
	if err := g.checkSource(r); err != nil {
		return err
	}
	if origin := r.Header.Get("Origin"); g.isListed(origin) {
		allowOrigin(w.Header(), origin)
		if r.Method == http.MethodOptions {
			allowPreflight(w)
			return nil
		}
	}
	if r.Method != http.MethodPost {
		w.Header().Set("Allow", http.MethodPost)
		return fault.New(fault.MethodNotAllowed,
			"This path takes POST alone: there are no sessions and no streams of the server's own.")
	}
	who, err := g.identify(w, r)
	if err != nil {
		return err
	}
	message, err := readMessage(r)
	if err != nil {
		return err
	}
	answer, isLate := &answer{ResponseWriter: w}, hasPassed(r.Context(), who.Until)
	g.Protocol.ServeHTTP(answer, r.WithContext(caller.With(r.Context(), who)))
	if err := answer.missingAnswer(isLate); err != nil {
		return err
	}
	if answered, err := answer.refuseCall(message); answered {
		return err
	}
	return answer.refusal()
}

// hasPassed reports whether the time `until` has passed or ctx has ended.
func hasPassed(ctx context.Context, until time.Time) bool {
	ctx, cancel := context.WithDeadline(ctx, until)
	defer cancel()
	return ctx.Err() != nil
}

// identify checks the API key and counts the request against the limit of the key. If the key is missing
// or invalid, the response is a 401 with a challenge in the header WWW-Authenticate (RFC 6750 §3).
func (g *Gate) identify(w http.ResponseWriter, r *http.Request) (caller.Caller, error) {
	authorization := r.Header.Get("Authorization")
	key, err := g.Keys.CheckKey(r.Context(), authorization)
	if err != nil {
		if fault.KindOf(err).Status == http.StatusUnauthorized {
			w.Header().Set("WWW-Authenticate", challenge(err))
		}
		return caller.Caller{}, err
	}
	if err := g.Limits.PassAgent(r.Context(), key.ID.String(), w.Header()); err != nil {
		return caller.Caller{}, err
	}
	slug, err := g.Slugs.Slug(r.Context(), key.BusinessID)
	if err != nil {
		return caller.Caller{}, err
	}
	deadline, _ := r.Context().Deadline() // every request has a deadline (libs/platform/server)
	return caller.Caller{Slug: slug, Scope: key.Scope, Authorization: authorization, Until: deadline.Add(-g.Spare)}, nil
}

func challenge(err error) string {
	if fault.Is(err, fault.InvalidAPIKey) {
		return `Bearer error="invalid_token"`
	}
	return "Bearer"
}

// checkSource refuses requests that a web page may have sent without
// the knowledge of its user. It checks the headers Host and Origin.
func (g *Gate) checkSource(r *http.Request) error {
	if !g.isKnownHost(r) {
		return fault.New(fault.SourceForbidden, "Host: this server does not answer under that name.")
	}
	origin := r.Header.Get("Origin")
	if origin == "" || g.isListed(origin) {
		return nil
	}
	if from, err := url.Parse(origin); err == nil && from.Host != "" && strings.EqualFold(from.Host, r.Host) {
		return nil
	}
	return fault.New(fault.SourceForbidden, "Origin: pages of this origin may not call this server.")
}

func (g *Gate) isKnownHost(r *http.Request) bool {
	name := hostname(r.Host)
	if len(g.Hosts) > 0 {
		return slices.Contains(g.Hosts, name)
	}
	local, ok := r.Context().Value(http.LocalAddrContextKey).(net.Addr)
	return !ok || !isLoopback(hostname(local.String())) || isLoopback(name)
}

func hostname(host string) string {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	return strings.ToLower(strings.Trim(host, "[]"))
}

func isLoopback(name string) bool {
	ip := net.ParseIP(name)
	return name == "localhost" || ip != nil && ip.IsLoopback()
}

// readMessage reads the body of the request, which must be one message. It refuses an
// array of messages, because one request counts only once against the limit of its key.
func readMessage(r *http.Request) ([]byte, error) {
	body, err := server.BodyOf(r)
	if err != nil {
		return nil, err
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	if bytes.HasPrefix(bytes.TrimLeft(body, " \t\r\n"), []byte("[")) {
		return nil, fault.New(fault.InvalidParameter, "The body is an array; send one JSON-RPC message with each "+
			"request.")
	}
	return body, nil
}
