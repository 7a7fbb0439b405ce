package soak

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"
)

// checker compares the answers that the clients received with the tables.
type checker struct {
	w          *workload
	rows       map[string][]row
	changes    map[uuid.UUID][]change // events of each object, by its ID
	versions   []publication
	pastFaults []pastFault
	findings   []string
}

func (j *checker) addFinding(op *operation, format string, args ...any) {
	var lines []string
	for _, a := range op.attempts {
		lines = append(lines, a.String())
	}
	for _, m := range op.reschedules {
		lines = append(lines, m.String())
	}
	for _, c := range op.cancellations {
		lines = append(lines, c.String())
	}
	j.findings = append(j.findings, fmt.Sprintf(format, args...)+fmt.Sprintf(" (%s %s key %q: %s)", op.kind, op.tag,
		op.key,
		strings.Join(lines, "; ")))
}

// String formats an attempt as one line of a report.
func (a *attempt) String() string {
	return fmt.Sprintf("%s %.3f-%.3fs %d %s %s %.120s", a.replica.name, a.begin.Seconds(), a.end.Seconds(), a.status,
		a.code, a.id, a.problem)
}

func (j *checker) checkOperations() {
	for _, op := range j.w.operations {
		j.compareRows(op)
		j.checkRepeats(op, &op.task)
		for _, m := range op.reschedules {
			j.checkRepeats(op, &m.task)
		}
		for _, c := range op.cancellations {
			j.checkRepeats(op, &c.task)
		}
		j.checkStragglers(op)
		j.checkReschedules(op)
		j.checkCancellations(op)
		j.checkOffers(op)
		j.checkRevocations(op)
	}
}

// compareRows checks that the tables contain each object that an answer reported as created, with the values in the
// answer. compareRows also checks that the operation created no more than one object, and no object if all attempts
// were refused.
func (j *checker) compareRows(op *operation) {
	rows := j.rows[op.tag]
	for _, a := range op.attempts {
		if a.outcome != succeeded {
			continue
		}
		i := slices.IndexFunc(rows, func(r row) bool { return r.ID.String() == a.id })
		if i < 0 {
			j.addFinding(op, "an object that an answer reported as created is missing")
			continue
		}
		if text := findDifference(a.answer, j.findOriginalRow(rows[i])); text != "" {
			j.addFinding(op, "the object differs from its answer: %s", text)
		}
	}
	if op.isPaidOnline() { // each failed payment leaves a cancelled object
		rows = slices.DeleteFunc(slices.Clone(rows), func(r row) bool { return !r.IsLive })
	}
	if len(rows) > 1 {
		j.addFinding(op, "there are %d objects", len(rows))
	}
	if len(rows) > 0 && !slices.ContainsFunc(op.attempts, func(a *attempt) bool { return a.outcome != refused }) {
		j.addFinding(op, "every attempt was refused, but the object exists")
	}
}

// findOriginalRow returns the row with the start and the staff member that the object had before its first reschedule.
func (j *checker) findOriginalRow(r row) row {
	if changes := j.changes[r.ID]; len(changes) > 0 {
		r.Start, r.StaffID = changes[0].Start, changes[0].StaffID
	}
	return r
}

func findDifference(a createdObject, r row) string {
	switch {
	case a.PartySize != 0 && a.PartySize != r.Quantity, a.Quantity != 0 && a.Quantity != r.Quantity:
		return fmt.Sprintf("quantity %d", r.Quantity)
	case a.StartTime != "" && r.Start != "" && a.Date+" "+a.StartTime != r.Start:
		return "start " + r.Start
	case !a.isBy(r.StaffID):
		return "another member"
	}
	return ""
}

// isBy reports whether the object in an answer belongs to the given staff member; nil means no staff member. It also
// returns true if the answer names no staff member, because then there is nothing to compare.
func (b createdObject) isBy(staff *uuid.UUID) bool {
	return b.StaffID == nil || staff != nil && staff.String() == *b.StaffID
}

// checkRepeats checks that all successful answers of a task with an Idempotency-Key are equal.
func (j *checker) checkRepeats(op *operation, t *task) {
	var first *attempt
	for _, a := range t.attempts {
		switch {
		case a.outcome != succeeded:
		case first == nil:
			first = a
		case a.id != first.id:
			j.addFinding(op, "two answers under one key name different objects")
		case a.digest != first.digest:
			j.addFinding(op, "two answers under one key differ")
		}
	}
}

// unorderedCodes are the codes of refusals after which an earlier attempt with the same Idempotency-Key can still
// succeed ([checker.checkStragglers]). There are two reasons for such a refusal: the service did not decide about the
// request, or the API key was revoked after an earlier attempt had booked. MCP tools answer with status 200 even for
// refusals, so the check compares codes.
var unorderedCodes = []string{"idempotency_in_progress", "service_unavailable", "availability_unverified",
	"payment_unavailable", "invalid_api_key"}

// checkStragglers checks that no earlier attempt succeeds after a later attempt with the same Idempotency-Key was
// finally refused (semantics.md §3).
func (j *checker) checkStragglers(op *operation) {
	rows := j.rows[op.tag]
	if op.key == "" || len(rows) == 0 || slices.ContainsFunc(op.attempts,
		func(a *attempt) bool { return a.outcome == succeeded }) {
		return
	}
	var lastRefusal time.Duration
	for _, a := range op.attempts {
		if a.outcome == refused && a.status != http.StatusServiceUnavailable && !slices.Contains(unorderedCodes,
			a.code) {
			lastRefusal = max(lastRefusal, a.begin)
		}
	}
	later := slices.ContainsFunc(op.attempts, func(a *attempt) bool {
		return a.outcome == unknown && a.begin > lastRefusal
	})
	if lastRefusal > 0 && !later && !op.isPaidOnline() {
		j.addFinding(op, "an earlier attempt succeeded after a later one under the same key was refused")
	}
}

// checkCancellations checks that an object is cancelled in the tables if an answer reported its cancellation as
// successful. checkCancellations also checks that a client or a failed payment can have caused the cancellation of
// every cancelled object.
func (j *checker) checkCancellations(op *operation) {
	rows := j.rows[op.tag]
	isCancelled := slices.ContainsFunc(op.cancellations, func(c *cancellation) bool { return c.findSuccess() != nil })
	maybe := slices.ContainsFunc(op.cancellations, func(c *cancellation) bool { return c.canHaveHadEffect() })
	for _, r := range rows {
		switch {
		case isCancelled && r.IsLive:
			j.addFinding(op, "a cancelled object is not cancelled in the tables")
		case !maybe && !r.IsLive && !op.isPaidOnline():
			j.addFinding(op, "the object is cancelled without a cancellation")
		}
	}
}

// checkOffers checks that each booking names a version of the offer that allows the booking. If the server acknowledged
// a newer version before the operation's first attempt, the booking must not name an older version.
func (j *checker) checkOffers(op *operation) {
	if op.apiKey == nil || len(op.attempts) == 0 {
		return
	}
	begin := slices.MinFunc(op.attempts, func(a, b *attempt) int { return int(a.begin - b.begin) }).begin
	var newest int64
	for _, p := range j.versions {
		if p.business == op.business && p.attempt.outcome == succeeded && p.attempt.end < begin {
			newest = max(newest, p.version)
		}
	}
	for _, r := range j.rows[op.tag] {
		r = j.findOriginalRow(r)
		if r.Version < newest {
			j.addFinding(op, "it was sold by version %d of the offer when %d had been acknowledged", r.Version, newest)
		}
		if text := j.w.findProhibition(op.business, r); text != "" {
			j.addFinding(op, "version %d of the offer does not allow it: %s", r.Version, text)
		}
	}
}

// checkRevocations checks the results of attempts with an API key that was revoked. An attempt that began after the
// answer to the revocation must not succeed. Before the revocation begins, no attempt may be refused because of its API
// key. Attempts during the revocation may have either result, because no table contains the commit time of a row.
func (j *checker) checkRevocations(op *operation) {
	if op.apiKey == nil {
		return
	}
	gone, revoking := time.Duration(op.apiKey.revokedAt.Load()), time.Duration(op.apiKey.revokingAt.Load())
	for _, a := range op.attempts {
		if a.outcome == succeeded && gone > 0 && a.begin > gone {
			j.addFinding(op, "its key had been revoked at %.3fs", gone.Seconds())
		}
		if a.code == "invalid_api_key" && (revoking == 0 || a.end < revoking) {
			j.addFinding(op, "its key was refused before its revocation")
		}
	}
}

// expected are the statuses that answers may have; any other status is a finding. Status 429 is not among them, because
// the rate limits are so high that no client reaches them.
var expected = []int{0, http.StatusOK, http.StatusCreated, http.StatusNoContent, http.StatusUnauthorized,
	http.StatusConflict, http.StatusServiceUnavailable}

// checkAnswer checks the status, the body and the response time of a single answer.
func (j *checker) checkAnswer(a *attempt) {
	switch {
	case !slices.Contains(expected, a.status):
		j.findings = append(j.findings, "an unexpected status: "+a.String())
	case a.status != 0 && a.problem != "":
		j.findings = append(j.findings, "an unreadable answer: "+a.String())
	case a.isLate && !j.isExcused(a):
		j.findings = append(j.findings, "no answer within "+clientDeadline.String()+": "+a.String())
	}
}

// isExcused reports whether the replica of the attempt, or the network to the replica, had a fault during the attempt.
func (j *checker) isExcused(a *attempt) bool {
	return slices.ContainsFunc(j.pastFaults, func(t pastFault) bool {
		return t.replica == a.replica && t.begin <= a.end && a.begin <= t.end
	})
}

// checkCharges checks that the provider's charges and the tables agree, and that no customer paid without getting an
// object.
func (j *checker) checkCharges(rows []payment, p *provider) {
	p.mu.Lock()
	defer p.mu.Unlock()
	known, made := map[string]payment{}, j.mapOperations()
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
			j.findings = append(j.findings, fmt.Sprintf("the charge of %s is still %s", r.SubjectID, r.Status))
		case r.Reference == nil && r.Status == "cancelled": // there is no charge, or the loop below finds the charge
		case c.status != want || c.amount != r.Amount || c.refunded != r.Refunded:
			j.findings = append(j.findings,
				fmt.Sprintf("the charge of %s is %s with amount %d, but the provider has %+v",
					r.SubjectID, r.Status, r.Amount, *c))
		case r.IsLive && r.Status == "cancelled":
			j.findings = append(j.findings, fmt.Sprintf("%s is not cancelled, but its charge is", r.SubjectID))
		}
		if op := made[r.SubjectID]; op != nil {
			j.checkRefunds(op, r)
		}
	}
	notified := j.listKnownCharges()
	for _, c := range p.charges {
		r, ok := known[c.subject]
		switch {
		case c.status == "canceled" || c.isSession() && c.status == "requires_payment_method" && !notified[c.reference]:
			// This charge cannot be paid: no customer received the URL of its payment page, and the page expires.
		case !ok:
			j.findings = append(j.findings, fmt.Sprintf("a charge without an object: %+v", *c))
		case r.Reference == nil || *r.Reference != c.reference:
			j.findings = append(j.findings, fmt.Sprintf("a charge that the tables do not contain: %+v", *c))
		}
	}
	j.checkPayments(p)
}

// listKnownCharges returns the references of all charges that answers contained.
func (j *checker) listKnownCharges() map[string]bool {
	all := map[string]bool{}
	for _, op := range j.w.operations {
		for _, a := range op.attempts {
			all[a.answer.reference] = true
		}
	}
	return all
}

// mapOperations returns the operations, by the IDs of the objects that they created.
func (j *checker) mapOperations() map[uuid.UUID]*operation {
	made := map[uuid.UUID]*operation{}
	for _, op := range j.w.operations {
		for _, r := range j.rows[op.tag] {
			made[r.ID] = op
		}
	}
	return made
}

// checkPayments checks that the provider has every charge that an answer contained, with the amount in that answer.
func (j *checker) checkPayments(p *provider) {
	for _, op := range j.w.operations {
		for _, a := range op.attempts {
			if !op.isPaidOnline() || a.outcome != succeeded || a.answer.reference == "" { // "": no longer payable
				continue
			}
			c := p.charges[a.answer.reference]
			if c == nil || c.subject != a.id || float64(c.amount) != a.answer.amount*100 {
				j.addFinding(op, "the provider has the charge %+v", c)
			}
		}
	}
}

// findProhibition returns the reason why a version of the offer does not allow a booking, or "" if it allows the
// booking.
func (w *workload) findProhibition(b *business, r row) string {
	e, ok := w.editions[b.slug][r.Version]
	if !ok {
		return "it was never published"
	}
	if date, _, _ := strings.Cut(r.Start, " "); e.closedDates[date] {
		return "it is closed on " + date
	}
	if e.inactiveMember != "" && r.StaffID != nil && *r.StaffID == b.deriveID("staff", e.inactiveMember) {
		return "its member is inactive"
	}
	return ""
}
