package soak

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"
)

// judgement compares the answers of the clients with the tables.
type judgement struct {
	w        *workload
	rows     map[string][]row
	changes  map[uuid.UUID][]change // of bookings
	versions []published
	troubles []trouble
	found    []string
}

func (j *judgement) wrong(op *operation, format string, args ...any) {
	var told []string
	for _, a := range op.attempts {
		told = append(told, a.String())
	}
	for _, m := range op.moves {
		told = append(told, m.String())
	}
	for _, c := range op.cancels {
		told = append(told, c.String())
	}
	j.found = append(j.found, fmt.Sprintf(format, args...)+fmt.Sprintf(" (%s %s key %q: %s)", op.kind, op.tag, op.key,
		strings.Join(told, "; ")))
}

// String formats an attempt as one line of a report.
func (a *attempt) String() string {
	return fmt.Sprintf("%s %.3f-%.3fs %d %s %s %.120s", a.replica.name, a.begin.Seconds(), a.end.Seconds(), a.status,
		a.code, a.id, a.trouble)
}

func (j *judgement) judge() {
	for _, op := range j.w.done {
		j.compare(op)
		j.repeats(op, &op.task)
		for _, m := range op.moves {
			j.repeats(op, &m.task)
		}
		for _, c := range op.cancels {
			j.repeats(op, &c.task)
		}
		j.straggler(op)
		j.moved(op)
		j.cancelled(op)
		j.offered(op)
		j.revoked(op)
	}
}

// compare checks that the tables contain each object that an answer reported as created, with the values
// of that answer. It also checks that the attempts can have created all objects in the tables.
func (j *judgement) compare(op *operation) {
	rows := j.rows[op.tag]
	for _, a := range op.attempts {
		if a.verdict != made {
			continue
		}
		i := slices.IndexFunc(rows, func(r row) bool { return r.ID.String() == a.id })
		if i < 0 {
			j.wrong(op, "what was answered as made is not there")
			continue
		}
		if text := differs(a.answer, j.asMade(rows[i])); text != "" {
			j.wrong(op, "what is there is not what was answered: %s", text)
		}
	}
	if op.pays() { // each failed payment leaves a cancelled booking
		rows = slices.DeleteFunc(slices.Clone(rows), func(r row) bool { return !r.Live })
	}
	if len(rows) > 1 {
		j.wrong(op, "it was done %d times", len(rows))
	}
	if len(rows) > 0 && !slices.ContainsFunc(op.attempts, func(a *attempt) bool { return a.verdict != refused }) {
		j.wrong(op, "every attempt was refused, and it is there")
	}
}

// asMade returns the row as it was before its first reschedule.
func (j *judgement) asMade(r row) row {
	if changes := j.changes[r.ID]; len(changes) > 0 {
		r.Start, r.StaffID = changes[0].Start, changes[0].StaffID
	}
	return r
}

func differs(a booked, r row) string {
	switch {
	case a.PartySize != 0 && a.PartySize != r.Quantity, a.Quantity != 0 && a.Quantity != r.Quantity:
		return fmt.Sprintf("quantity %d", r.Quantity)
	case a.StartTime != "" && r.Start != "" && a.Date+" "+a.StartTime != r.Start:
		return "start " + r.Start
	case !a.by(r.StaffID):
		return "another member"
	}
	return ""
}

// by reports whether the answer names this member, or none.
func (b booked) by(staff *uuid.UUID) bool {
	return b.StaffID == nil || staff != nil && staff.String() == *b.StaffID
}

// repeats checks that under one idempotency key all successful answers are equal.
func (j *judgement) repeats(op *operation, t *task) {
	var first *attempt
	for _, a := range t.attempts {
		switch {
		case a.verdict != made:
		case first == nil:
			first = a
		case a.id != first.id:
			j.wrong(op, "two answers under one key name two things")
		case a.digest != first.digest:
			j.wrong(op, "two answers under one key differ")
		}
	}
}

// ofNoOrder are the codes of refusals that do not show whether an earlier attempt with the same idempotency key can
// still succeed ([judgement.straggler]). Either the service did not decide, or it did not know the caller, because
// the API key was revoked after an earlier attempt had booked. MCP tools answer with status 200, so the code decides.
var ofNoOrder = []string{"idempotency_in_progress", "service_unavailable", "availability_unverified",
	"payment_unavailable", "invalid_api_key"}

// straggler checks that no attempt succeeds after the final refusal of a later one with the same key (§3).
func (j *judgement) straggler(op *operation) {
	rows := j.rows[op.tag]
	if op.key == "" || len(rows) == 0 || slices.ContainsFunc(op.attempts,
		func(a *attempt) bool { return a.verdict == made }) {
		return
	}
	var lastRefusal time.Duration
	for _, a := range op.attempts {
		if a.verdict == refused && a.status != http.StatusServiceUnavailable && !slices.Contains(ofNoOrder, a.code) {
			lastRefusal = max(lastRefusal, a.begin)
		}
	}
	later := slices.ContainsFunc(op.attempts, func(a *attempt) bool {
		return a.verdict == unknown && a.begin > lastRefusal
	})
	if lastRefusal > 0 && !later && !op.pays() {
		j.wrong(op, "an earlier attempt succeeded after a later one under the same key was refused")
	}
}

// cancelled checks that each object with a successful answer to its cancellation is cancelled in the tables.
// It also checks that no object is cancelled there unless a client or a payment may have cancelled it.
func (j *judgement) cancelled(op *operation) {
	rows := j.rows[op.tag]
	cancelled := slices.ContainsFunc(op.cancels, func(c *cancel) bool { return c.did() != nil })
	maybe := slices.ContainsFunc(op.cancels, func(c *cancel) bool { return c.may() })
	for _, r := range rows {
		switch {
		case cancelled && r.Live:
			j.wrong(op, "what was cancelled is not")
		case !maybe && !r.Live && !op.pays():
			j.wrong(op, "it is cancelled, and nobody has")
		}
	}
}

// offered checks that each booking refers to a version of the offer that allows it. The version must
// not be older than the newest version that was acknowledged before the first attempt.
func (j *judgement) offered(op *operation) {
	if op.apiKey == nil || len(op.attempts) == 0 {
		return
	}
	begin := slices.MinFunc(op.attempts, func(a, b *attempt) int { return int(a.begin - b.begin) }).begin
	var newest int64
	for _, p := range j.versions {
		if p.business == op.business && p.attempt.verdict == made && p.attempt.end < begin {
			newest = max(newest, p.version)
		}
	}
	for _, r := range j.rows[op.tag] {
		r = j.asMade(r)
		if r.Version < newest {
			j.wrong(op, "it was sold by version %d of the offer when %d had been acknowledged", r.Version, newest)
		}
		if text := j.w.forbidden(op.business, r); text != "" {
			j.wrong(op, "version %d of the offer does not allow it: %s", r.Version, text)
		}
	}
}

// revoked checks that no attempt booked if it began after the answer to the revocation of its API key. It
// also checks that no attempt was refused for its key before the key's revocation began. Attempts that
// ran during the revocation may have either result, because no table contains the commit time of a row.
func (j *judgement) revoked(op *operation) {
	if op.apiKey == nil {
		return
	}
	gone, revoking := time.Duration(op.apiKey.gone.Load()), time.Duration(op.apiKey.revoking.Load())
	for _, a := range op.attempts {
		if a.verdict == made && gone > 0 && a.begin > gone {
			j.wrong(op, "its key had been revoked at %.3fs", gone.Seconds())
		}
		if a.code == "invalid_api_key" && (revoking == 0 || a.end < revoking) {
			j.wrong(op, "its key was refused, and it had not been revoked")
		}
	}
}

// expected are the possible statuses of answers; any other one is a finding. The clients stay below every limit.
var expected = []int{0, http.StatusOK, http.StatusCreated, http.StatusNoContent, http.StatusUnauthorized,
	http.StatusConflict, http.StatusServiceUnavailable}

// single checks one answer by itself.
func (j *judgement) single(a *attempt) {
	switch {
	case !slices.Contains(expected, a.status):
		j.found = append(j.found, "an answer that no request deserves: "+a.String())
	case a.status != 0 && a.trouble != "":
		j.found = append(j.found, "an answer that says nothing: "+a.String())
	case a.late && !j.excused(a):
		j.found = append(j.found, "no answer within "+clientDeadline.String()+": "+a.String())
	}
}

// excused reports whether the replica, or the network to it, had a fault during the attempt.
func (j *judgement) excused(a *attempt) bool {
	return slices.ContainsFunc(j.troubles, func(t trouble) bool {
		return t.replica == a.replica && t.begin <= a.end && a.begin <= t.end
	})
}

// charges checks that the provider and the tables agree, and that no customer paid without getting something.
func (j *judgement) charges(rows []payment, p *provider) {
	p.mu.Lock()
	defer p.mu.Unlock()
	known, made := map[string]payment{}, j.madeBy()
	for _, r := range rows {
		known[r.SubjectID.String()] = r
		c := &charge{status: "none"}
		if r.Reference != nil && p.charges[*r.Reference] != nil {
			c = p.charges[*r.Reference]
		}
		want := map[string]string{"open": "requires_payment_method", "paid": "succeeded",
			"cancelled": "canceled"}[r.Status]
		switch {
		case want == "":
			j.found = append(j.found, fmt.Sprintf("the charge of %s stays %s", r.SubjectID, r.Status))
		case r.Reference == nil && r.Status == "cancelled": // there is no charge, or the loop below finds it
		case c.status != want || c.amount != r.Amount || c.refunded != r.Refunded:
			j.found = append(j.found, fmt.Sprintf("the charge of %s is %s over %d, and with the provider %+v",
				r.SubjectID, r.Status, r.Amount, *c))
		case r.Live && r.Status == "cancelled":
			j.found = append(j.found, fmt.Sprintf("%s stands, and its charge is cancelled", r.SubjectID))
		}
		if op := made[r.SubjectID]; op != nil {
			j.refunds(op, r)
		}
	}
	told := j.told()
	for _, c := range p.charges {
		r, ok := known[c.subject]
		switch {
		case c.status == "canceled" || c.isSession() && c.status == "requires_payment_method" && !told[c.reference]:
			// It cannot be paid: a payment page whose address no customer received expires.
		case !ok:
			j.found = append(j.found, fmt.Sprintf("a charge that belongs to nothing: %+v", *c))
		case r.Reference == nil || *r.Reference != c.reference:
			j.found = append(j.found, fmt.Sprintf("a charge that nobody knows: %+v", *c))
		}
	}
	j.paid(p)
}

// told returns the references of all charges that customers received.
func (j *judgement) told() map[string]bool {
	all := map[string]bool{}
	for _, op := range j.w.done {
		for _, a := range op.attempts {
			all[a.answer.reference] = true
		}
	}
	return all
}

// madeBy returns the operations, by the ids of the objects that they created.
func (j *judgement) madeBy() map[uuid.UUID]*operation {
	made := map[uuid.UUID]*operation{}
	for _, op := range j.w.done {
		for _, r := range j.rows[op.tag] {
			made[r.ID] = op
		}
	}
	return made
}

// paid checks that the provider has each charge with the amount that the customer was asked for.
func (j *judgement) paid(p *provider) {
	for _, op := range j.w.done {
		for _, a := range op.attempts {
			if !op.pays() || a.verdict != made || a.answer.reference == "" { // it may come too late to pay
				continue
			}
			c := p.charges[a.answer.reference]
			if c == nil || c.subject != a.id || float64(c.amount) != a.answer.amount*100 {
				j.wrong(op, "its charge is %+v with the provider", c)
			}
		}
	}
}

// forbidden returns the reason why a version of the offer does not allow a booking, or "".
func (w *workload) forbidden(b *business, r row) string {
	e, ok := w.editions[b.slug][r.Version]
	if !ok {
		return "it was never published"
	}
	if date, _, _ := strings.Cut(r.Start, " "); e.closed[date] {
		return "it is closed on " + date
	}
	if e.away != "" && r.StaffID != nil && *r.StaffID == b.sub("staff", e.away) {
		return "its member is away"
	}
	return ""
}
