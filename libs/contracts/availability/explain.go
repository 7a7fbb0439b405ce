package availability

import (
	"fmt"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/values/timespan"
)

// The rules that can prevent the booking of a start (pages.md, "Why not?"). If several rules prevent it, the
// first of them in this order is reported. New rules may be added, so clients must accept unknown rules.
const (
	RuleNoSession    = "no_session"    // no session of the requested class starts at this time
	RuleNoSuchTime   = "no_such_time"  // the time zone of the business skips this date
	RuleNotPerformed = "not_performed" // no member, or not the requested member, performs the services
	RuleInactive     = "inactive"      // the service or the member is inactive
	RuleOverride     = "override"
	RuleClosed       = "closed"
	RuleBlock        = "block"
	RuleClass        = "class" // the member teaches a class at this time
	RuleBooking      = "booking"
	RuleBuffer       = "buffer" // the buffer of the requested services does not fit
	RuleGrid         = "grid"
	RulePast         = "past"
	RuleNotice       = "notice"
	RuleAdvanceLimit = "advance_limit"
	RuleClassFull    = "class_full"
	// The next four rules do not remove a start from the response of GET
	// /slots, but customers cannot book the start (interface.md §3).
	RuleSubscription = "subscription"
	RuleRemoval      = "removal"
	RuleNotOpen      = "not_open" // the business is not open for bookings yet
	RulePaused       = "paused"
	// The next four rules are only reported when an offer that is not published yet is
	// compared with the existing bookings, orders of tickets and reservations.
	RuleRemoved = "removed" // the service, variant or staff member is no longer in the offer
	RuleTooFew  = "too_few" // more places or seats are booked at a time than the offer has
	RuleMoved   = "moved"   // the event of the tickets was rescheduled
	// RuleRelocated means that bookings without a stored location are at another location than before.
	RuleRelocated = "relocated"
)

// The values of Whose. They name the owner of the hours, override, block or booking in a [Reason].
const (
	OfBusiness = "business"
	OfStaff    = "staff"
)

// NoStarts maps each date of the requested window to the rule that prevents all starts on the date. It is the
// response of GET /internal/api/public/{slug}/no-starts. The request has the query parameters of /available-dates.
//
// The availability service ignores bookings. The rule of a date is [RuleBooking] if
// only bookings can prevent all starts on the date, or if no single rule is the cause.
type NoStarts struct {
	Rules map[timespan.Date]string `json:"rules"`
}

// ExplainRequest asks why customers can or cannot book one start of an appointment ([ExplainStart]).
type ExplainRequest struct {
	Slug         string   `json:"slug"`
	OfferVersion int64    `json:"offer_version"` // the response is computed from this version or a newer one
	Question     Question `json:"question"`
}

// Tenant returns the slug of the business.
func (r ExplainRequest) Tenant() string { return r.Slug }

// Explanation reports whether customers can book a start and, if not, the reason.
type Explanation struct {
	Computed bool   `json:"computed"` // false if the offer or the occupied time could not be read
	Timezone string `json:"timezone"`
	Bookable bool   `json:"bookable"`
	// Reason is the first rule that prevents every booking of the start.
	// It is null if customers can book the start, or if Computed is false.
	Reason *Reason `json:"reason"`
	// Staff lists all staff members who perform the services, in Auto-Assign order. It is
	// empty if the services need no staff member, or if the request names a staff member.
	Staff []MemberExplanation `json:"staff"`
}

// MemberExplanation reports whether customers can book the start with one staff member and, if not, the reason.
type MemberExplanation struct {
	StaffID  uuid.UUID `json:"staff_id"`
	Name     string    `json:"name"`
	Bookable bool      `json:"bookable"`
	Reason   *Reason   `json:"reason"`
}

// Reason is the first rule that prevents a booking, with its
// cause. Dates and times are in the time zone of the business.
type Reason struct {
	Rule    string `json:"rule"`
	Message string `json:"message"` // the reason as one English sentence
	// `Whose` names the owner of the hours, override, block or booking: [OfBusiness] or [OfStaff].
	Whose     string     `json:"whose,omitempty"`
	StaffID   *uuid.UUID `json:"staff_id,omitempty"`   // nil if the reason is not about a staff member
	StaffName string     `json:"staff_name,omitempty"` // name of the staff member
	// Name is the reason of a block, the name of the class that a
	// staff member teaches, the name of an inactive service, or the names of both locations.
	Name string `json:"name,omitempty"`
	// Date is the date of an override, the last date within the
	// advance limit, or the date until which bookings are paused.
	Date *timespan.Date `json:"date,omitempty"`
	// From is the start of a block, the start of a booking including
	// its buffers, or the first start after the minimum notice.
	From *timespan.LocalDateTime `json:"from,omitempty"`
	To   *timespan.LocalDateTime `json:"to,omitempty"`
	// Minutes is the length of the buffer, of the minimum notice, or of a step of the slot grid.
	Minutes int `json:"minutes,omitempty"`
	// Booked and Offered are set for too_few: the number of places
	// that are booked at a time, and the number that the offer has.
	Booked  int `json:"booked,omitempty"`
	Offered int `json:"offered,omitempty"`
}

// Explain sets Message to one English sentence that explains the rule.
func (r *Reason) Explain() {
	switch {
	case r.StaffName != "":
		r.Message = r.sentence(r.StaffName, r.StaffName+"'s")
	case r.Whose == OfStaff:
		r.Message = r.sentence("Whoever performs it", "a member's")
	default:
		r.Message = r.sentence("The business", "the business's")
	}
}

// sentence returns the text for Message. The argument `who` is the subject
// of the sentence; the argument `whose` names the owner of the hours.
func (r *Reason) sentence(who, whose string) string {
	switch r.Rule {
	case RuleNoSession:
		return "No session of the class starts then."
	case RuleNoSuchTime:
		return "The business's clock leaves this date out."
	case RuleNotPerformed:
		if r.StaffName != "" {
			return r.StaffName + " does not perform this."
		}
		return "Nobody performs this."
	case RuleInactive:
		if r.Name != "" {
			return r.Name + " is not active."
		}
		return who + " is not active."
	case RuleOverride:
		return "An override of " + whose + " hours" + onDate(r.Date) + " leaves this time out."
	case RuleClosed:
		if r.Whose == OfStaff {
			return who + " does not work then."
		}
		return "The business is closed then."
	case RuleBlock:
		return fmt.Sprintf("%s is blocked from %s to %s%s.", who, r.From, r.To, formatCause(r.Name))
	case RuleClass:
		return who + " gives " + r.Name + " then."
	case RuleClassFull:
		return "All seats of the class are taken."
	case RuleRemoved:
		if r.StaffName != "" {
			return r.StaffName + " is no longer in the offer."
		}
		return r.Name + " is no longer in the offer."
	case RuleMoved:
		return fmt.Sprintf("%s begins at another time: %s.", r.Name, r.From)
	case RuleRelocated:
		return "The location changes: " + r.Name + "."
	case RuleTooFew:
		if r.Name != "" {
			return fmt.Sprintf("%s: %d are booked, and %d are offered.", r.Name, r.Booked, r.Offered)
		}
		return fmt.Sprintf("%d are booked, and %d are offered.", r.Booked, r.Offered)
	case RuleBooking:
		if r.Whose == OfBusiness {
			return fmt.Sprintf("All places are taken, one of them from %s to %s, buffers included.", r.From, r.To)
		}
		return fmt.Sprintf("%s is booked from %s to %s, buffers included.", who, r.From, r.To)
	}
	return r.limit()
}

// limit returns the text for Message if the rule comes from a setting of the business.
func (r *Reason) limit() string {
	switch r.Rule {
	case RuleBuffer:
		return fmt.Sprintf("The service's own buffer of up to %d minutes does not fit between what is taken.",
			r.Minutes)
	case RuleGrid:
		return fmt.Sprintf("Starts lie %d minutes apart, counted from when hours begin, and this is between two of "+
			"them.", r.Minutes)
	case RulePast:
		return "This time is over."
	case RuleNotice:
		return fmt.Sprintf("Bookings are taken %d minutes ahead: now from %s on.", r.Minutes, r.From)
	case RuleAdvanceLimit:
		return fmt.Sprintf("Bookings are taken up to %s.", r.Date)
	case RuleSubscription:
		return "The business's subscription is inactive, so it takes no bookings."
	case RuleRemoval:
		return "The business's account is scheduled for removal, so it takes no bookings."
	case RuleNotOpen:
		return "The business is not open for bookings yet."
	case RulePaused:
		return fmt.Sprintf("Online bookings are paused until %s.", r.Date)
	}
	return "It cannot be booked: " + r.Rule + "."
}

func formatCause(reason string) string {
	if reason == "" {
		return ""
	}
	return " (" + reason + ")"
}

func onDate(d *timespan.Date) string {
	if d == nil {
		return ""
	}
	return " on " + d.String()
}
