package soak

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// outcome is what a client may conclude from an answer, or from a missing one (semantics.md §7).
type outcome int

const (
	unknown   outcome = iota // it may have happened
	succeeded                // it has happened
	refused                  // it has not happened and will not
)

// attempt is one request of a client. Times are relative to the start of the soak.
type attempt struct {
	begin, end time.Duration
	replica    *replica
	status     int    // 0: no answer
	code       string // messageCode
	outcome    outcome
	id         string   // of the created object
	digest     [32]byte // of the body of a 201 answer
	answer     createdObject
	problem    string // the reason for a missing or unreadable answer
	isLate     bool   // no answer within the client's deadline
}

// createdObject is the created object in an answer. Each kind of operation fills the fields that it has.
type createdObject struct {
	ID        string  `json:"id"`
	Date      string  `json:"date"`
	StartTime string  `json:"start_time"`
	StaffID   *string `json:"staff_id"`
	PartySize int     `json:"party_size"`
	Quantity  int     `json:"quantity"`
	Sequence  int     `json:"sequence"` // of a rescheduled or cancelled booking
	Payment   *struct {
		Refund *struct{ Amount float64 }
	} // of the same
	Cancellation struct{ Refund struct{ Amount float64 } } // as shown to the customer before the cancellation
	reference    string                                    // of the charge
	amount       float64
	token        string // of the customer's link
}

// formatStart returns the local start in the answer, in the format of the tables.
func (b createdObject) formatStart() string { return b.Date + " " + b.StartTime }

// task is something that should happen once: with a single attempt, or with several under one idempotency key.
type task struct {
	key string // Idempotency-Key, or ""

	mu       sync.Mutex
	attempts []*attempt
}

// operation is a task that creates something, together with the later tasks on it.
type operation struct {
	task
	kind          string
	business      *business
	tag           string // the customer's email address or name; unique for the operation
	apiKey        *apiKey
	date          string
	resource      string // the resource that it takes from, if its history can be checked separately
	takes         [3]int
	caps          [3]int
	reschedules   []*reschedule
	cancellations []*cancellation
}

// apiKey is an API key of a business. Before its revocation, its times are 0.
type apiKey struct {
	id, secret            string
	revokingAt, revokedAt atomic.Int64 // when its revocation was requested, and when that was answered
}

// clientDeadline is the timeout of clients: three times the maximum time of a service.
const clientDeadline = 30 * time.Second

// caller sends requests to the replicas in turn, like an ingress. It does not retry.
type caller struct {
	cluster   *cluster
	begun     time.Time
	client    *http.Client
	next      atomic.Uint64
	address   atomic.Uint32
	onAttempt func(*attempt)
}

func newCaller(c *cluster, begun time.Time, seen func(*attempt)) *caller {
	return &caller{cluster: c, begun: begun, onAttempt: seen, client: &http.Client{
		Timeout: clientDeadline, Transport: &http.Transport{MaxIdleConnsPerHost: 64, IdleConnTimeout: 20 * time.Second},
	}}
}

func (c *caller) elapsed() time.Duration { return now().Sub(c.begun) }

// chooseReplica returns the next running replica of a service: an ingress skips the others too.
func (c *caller) chooseReplica(service string) *replica {
	all := c.cluster.listReplicas(service)
	first := int(c.next.Add(1))
	for i := range all {
		if r := all[(first+i)%len(all)]; r.isRunning() {
			return r
		}
	}
	return all[first%len(all)]
}

func (r *replica) isRunning() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	select {
	case <-r.done:
		return false
	default:
		return true
	}
}

// message is one HTTP request to a service.
type message struct {
	service, method, path string
	body                  any
	header                map[string]string
	read                  func(a *attempt, body []byte)
	isInternal            bool // to the internal port
}

func (c *caller) send(ctx context.Context, m message) *attempt {
	r := c.chooseReplica(m.service)
	a := &attempt{replica: r, begin: c.elapsed()}
	body, err := c.exchange(ctx, r, m, a)
	a.end = c.elapsed()
	if err != nil {
		a.problem = err.Error()
		var timeout net.Error
		a.isLate = errors.As(err, &timeout) && timeout.Timeout() && a.end-a.begin >= clientDeadline
	} else {
		a.setOutcome(m, body)
	}
	c.onAttempt(a)
	return a
}

func (c *caller) exchange(ctx context.Context, r *replica, m message, a *attempt) ([]byte, error) {
	var sent io.Reader
	if m.body != nil {
		text, err := json.Marshal(m.body)
		if err != nil {
			return nil, err
		}
		sent = bytes.NewReader(text)
	}
	to := r.ingress
	if m.isInternal {
		to = r.internalLink
	}
	request, err := http.NewRequestWithContext(ctx, m.method, "http://"+to.address()+m.path, sent)
	if err != nil {
		return nil, err
	}
	request.GetBody = nil // the transport could otherwise send a request twice
	n := c.address.Add(1)
	request.Header.Set("X-Forwarded-For", fmt.Sprintf("10.%d.%d.%d", n>>16&255, n>>8&255, n&255))
	request.Header.Set("Content-Type", "application/json")
	for name, value := range m.header {
		request.Header.Set(name, value)
	}
	answer, err := c.client.Do(request)
	if err != nil {
		return nil, err
	}
	defer func() { _ = answer.Body.Close() }()
	body, err := io.ReadAll(answer.Body)
	if err == nil {
		a.status = answer.StatusCode
	}
	return body, err
}

// setOutcome sets the outcome that an answer shows.
func (a *attempt) setOutcome(m message, body []byte) {
	switch {
	case a.status >= 200 && a.status < 300:
		a.outcome = succeeded
		if m.read != nil {
			m.read(a, body)
		}
	case a.status == http.StatusInternalServerError:
		a.problem = string(body)
	default:
		var said struct{ MessageCode, Error string }
		_ = json.Unmarshal(body, &said) // an unreadable answer has no code, and its outcome is unknown
		a.refuse(said.MessageCode)
		if a.status == http.StatusBadRequest || a.code == "" {
			a.problem = string(body)
		}
	}
}

// refuse records a refusal. All codes except one are final.
func (a *attempt) refuse(code string) {
	a.code, a.outcome = code, refused
	if code == "outcome_unknown" || code == "" {
		a.outcome = unknown
	}
}

func readBooking(a *attempt, body []byte) {
	var said struct {
		Booking   createdObject
		ManageURL string `json:"manage_url"`
		Payment   *struct {
			Reference string
			Amount    float64
		}
	}
	if err := json.Unmarshal(body, &said); err != nil {
		a.problem = "the body of a 201 cannot be read: " + err.Error()
		return
	}
	a.answer, a.id, a.digest = said.Booking, said.Booking.ID, sha256.Sum256(body)
	a.answer.token = strings.TrimPrefix(said.ManageURL, pagesURL+"/m/")
	if said.Payment != nil {
		a.answer.reference, a.answer.amount = said.Payment.Reference, said.Payment.Amount
	}
}

func readObject(a *attempt, body []byte) {
	if err := json.Unmarshal(body, &a.answer); err != nil {
		a.problem = "the body cannot be read: " + err.Error()
	}
	a.id, a.digest = a.answer.ID, sha256.Sum256(body)
}

// readCustomerView reads the customer view of a booking.
func readCustomerView(a *attempt, body []byte) {
	var said struct{ Booking createdObject }
	if err := json.Unmarshal(body, &said); err != nil || said.Booking.ID == "" {
		a.problem = "the customer view cannot be read: " + string(body)
	}
	a.answer, a.id = said.Booking, said.Booking.ID
}

// readTool reads the answer of an MCP tool, which has status 200 even for a refusal.
func readTool(a *attempt, body []byte) {
	var said struct {
		Result *struct {
			IsError           bool
			StructuredContent struct {
				MessageCode string
				Booking     createdObject
			}
		}
	}
	if err := json.Unmarshal(body, &said); err != nil || said.Result == nil {
		a.outcome, a.problem = unknown, "the answer of a tool cannot be read: "+string(body)
		return
	}
	content := said.Result.StructuredContent
	if said.Result.IsError {
		a.refuse(content.MessageCode)
		if a.code == "internal" || a.code == "" {
			a.outcome, a.problem = unknown, string(body)
		}
		return
	}
	a.answer, a.id = content.Booking, content.Booking.ID
}

func readVersion(a *attempt, body []byte) int64 {
	var said struct{ Version int64 }
	if err := json.Unmarshal(body, &said); err != nil || said.Version == 0 {
		a.problem = "the answer to a publish has no version: " + string(body)
	}
	return said.Version
}

func readKey(k *apiKey, a *attempt, body []byte) {
	var said struct{ ID, Key string }
	if err := json.Unmarshal(body, &said); err != nil || said.Key == "" {
		a.problem = "the answer has no key"
	}
	k.id, k.secret = said.ID, said.Key
}
