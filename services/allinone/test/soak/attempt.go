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

// outcome is the conclusion that a client can draw from the answer to a request, or from a missing answer (semantics.md
// §7).
type outcome int

const (
	unknown   outcome = iota // the request may have had an effect
	succeeded                // the request has had its effect
	refused                  // the request has had no effect and will have none
)

// attempt is one request of a client, with the answer. Times are relative to the start of the soak.
type attempt struct {
	begin, end time.Duration
	replica    *replica
	status     int    // HTTP status of the answer; 0 if there was no answer
	code       string // the messageCode in the answer
	outcome    outcome
	id         string   // ID of the created object
	digest     [32]byte // hash of the body of an answer with status 201
	answer     createdObject
	problem    string // the reason why there is no answer or the answer cannot be read
	isLate     bool   // the client's deadline expired without an answer
}

// createdObject contains the values of an object in an answer. Each kind of operation fills the fields that its object
// has.
type createdObject struct {
	ID        string  `json:"id"`
	Date      string  `json:"date"`
	StartTime string  `json:"start_time"`
	StaffID   *string `json:"staff_id"`
	PartySize int     `json:"party_size"`
	Quantity  int     `json:"quantity"`
	Sequence  int     `json:"sequence"` // number of the last event of a rescheduled or cancelled booking
	// Payment is set only for a rescheduled or cancelled booking.
	Payment *struct {
		Refund *struct{ Amount float64 }
	}
	Cancellation struct{ Refund struct{ Amount float64 } } // the refund that the customer saw before the cancellation
	reference    string                                    // reference of the charge
	amount       float64
	token        string // token in the URL of the customer view
}

// formatStart returns the local start of the object in the answer, in the format of row.Start.
func (b createdObject) formatStart() string { return b.Date + " " + b.StartTime }

// task is a change that must happen at most once. A task has one attempt, or several attempts with the same
// Idempotency-Key.
type task struct {
	key string // Idempotency-Key, or ""

	mu       sync.Mutex
	attempts []*attempt
}

// operation is a task that creates an object, together with the later tasks that change the object.
type operation struct {
	task
	kind          string
	business      *business
	tag           string // email address or name of the customer; unique for the operation
	apiKey        *apiKey
	date          string
	resource      string // the resource whose capacity the object uses, if its history is checked separately; or ""
	takes         [3]int
	caps          [3]int
	reschedules   []*reschedule
	cancellations []*cancellation
}

// apiKey is an API key of a business. Before the revocation of the key, both times are 0.
type apiKey struct {
	id, secret            string
	revokingAt, revokedAt atomic.Int64 // time of the request that revokes the key, and time of the answer
}

// clientDeadline is the time limit of a client's request. It is three times the time limit of a request in a service.
const clientDeadline = 30 * time.Second

// caller sends requests to the replicas of a service in turn, like an ingress. It does not retry requests.
type caller struct {
	cluster   *cluster
	begun     time.Time
	client    *http.Client
	next      atomic.Uint64
	address   atomic.Uint32
	onAttempt func(*attempt)
}

func newCaller(c *cluster, startTime time.Time, seen func(*attempt)) *caller {
	return &caller{cluster: c, begun: startTime, onAttempt: seen, client: &http.Client{
		Timeout: clientDeadline, Transport: &http.Transport{MaxIdleConnsPerHost: 64, IdleConnTimeout: 20 * time.Second},
	}}
}

func (c *caller) elapsed() time.Duration { return now().Sub(c.begun) }

// chooseReplica returns the next running replica of a service. chooseReplica skips replicas that do not run, as an
// ingress does.
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

// message is an HTTP request to a service, before it is sent to a replica.
type message struct {
	service, method, path string
	body                  any
	header                map[string]string
	read                  func(a *attempt, body []byte)
	isInternal            bool // the request goes to the internal port
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
	request.GetBody = nil // without GetBody, the transport cannot send the request twice
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

// setOutcome sets the outcome of an attempt from the status and the body of the answer.
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
		var answer struct{ MessageCode, Error string }
		_ = json.Unmarshal(body, &answer) // if the body cannot be read, there is no code, and the outcome is unknown
		a.refuse(answer.MessageCode)
		if a.status == http.StatusBadRequest || a.code == "" {
			a.problem = string(body)
		}
	}
}

// refuse records that the service refused the request. After the code outcome_unknown, the outcome is unknown.
func (a *attempt) refuse(code string) {
	a.code, a.outcome = code, refused
	if code == "outcome_unknown" || code == "" {
		a.outcome = unknown
	}
}

func readBooking(a *attempt, body []byte) {
	var answer struct {
		Booking   createdObject
		ManageURL string `json:"manage_url"`
		Payment   *struct {
			Reference string
			Amount    float64
		}
	}
	if err := json.Unmarshal(body, &answer); err != nil {
		a.problem = "the body of a 201 cannot be read: " + err.Error()
		return
	}
	a.answer, a.id, a.digest = answer.Booking, answer.Booking.ID, sha256.Sum256(body)
	a.answer.token = strings.TrimPrefix(answer.ManageURL, pagesURL+"/m/")
	if answer.Payment != nil {
		a.answer.reference, a.answer.amount = answer.Payment.Reference, answer.Payment.Amount
	}
}

func readObject(a *attempt, body []byte) {
	if err := json.Unmarshal(body, &a.answer); err != nil {
		a.problem = "the body cannot be read: " + err.Error()
	}
	a.id, a.digest = a.answer.ID, sha256.Sum256(body)
}

// readCustomerView reads the booking in an answer with the customer view.
func readCustomerView(a *attempt, body []byte) {
	var answer struct{ Booking createdObject }
	if err := json.Unmarshal(body, &answer); err != nil || answer.Booking.ID == "" {
		a.problem = "the customer view cannot be read: " + string(body)
	}
	a.answer, a.id = answer.Booking, answer.Booking.ID
}

// readTool reads the answer of an MCP tool. The status of the answer is 200, even if the tool refused the request.
func readTool(a *attempt, body []byte) {
	var answer struct {
		Result *struct {
			IsError           bool
			StructuredContent struct {
				MessageCode string
				Booking     createdObject
			}
		}
	}
	if err := json.Unmarshal(body, &answer); err != nil || answer.Result == nil {
		a.outcome, a.problem = unknown, "the answer of a tool cannot be read: "+string(body)
		return
	}
	content := answer.Result.StructuredContent
	if answer.Result.IsError {
		a.refuse(content.MessageCode)
		if a.code == "internal" || a.code == "" {
			a.outcome, a.problem = unknown, string(body)
		}
		return
	}
	a.answer, a.id = content.Booking, content.Booking.ID
}

func readVersion(a *attempt, body []byte) int64 {
	var answer struct{ Version int64 }
	if err := json.Unmarshal(body, &answer); err != nil || answer.Version == 0 {
		a.problem = "the answer to a publish has no version: " + string(body)
	}
	return answer.Version
}

func readKey(k *apiKey, a *attempt, body []byte) {
	var answer struct{ ID, Key string }
	if err := json.Unmarshal(body, &answer); err != nil || answer.Key == "" {
		a.problem = "the answer has no key"
	}
	k.id, k.secret = answer.ID, answer.Key
}
