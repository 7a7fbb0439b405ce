package availability

import (
	"fmt"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/values/timespan"
)

// The rules that can prevent the booking of a start (pages.md, "Why not?"). If several apply, the
// first in this order is reported. New rules may be added, so clients must accept unknown ones.
const (
	RuleNoSession    = "no_session"    // of a class: no session starts at this time
	RuleNoSuchTime   = "no_such_time"  // the time zone skips this date
	RuleNotPerformed = "not_performed" // no member, or not the requested member, performs the services
	RuleInactive     = "inactive"      // the service or the member is inactive
	RuleOverride     = "override"
	RuleClosed       = "closed"
	RuleBlock        = "block"
	RuleClass        = "class" // the member teaches a class at this time
	RuleBooking      = "booking"
	RuleBuffer       = "buffer" // of the requested services
	RuleGrid         = "grid"
	RulePast         = "past"
	RuleNotice       = "notice"
	RuleAdvanceLimit = "advance_limit"
	RuleClassFull    = "class_full"
	// The next four rules do not remove a start from /slots, but customers cannot book it (interface.md §3).
	RuleSubscription = "subscription"
	RuleRemoval      = "removal"
	RuleNotOpen      = "not_open" // the business is not open for bookings yet
	RulePaused       = "paused"
	// The next three rules prevent that a future booking is booked again as it is, in addition to the rules above.
	RuleRemoved = "removed" // the service, the variant or the member is no longer in the offer
	RuleTooFew  = "too_few" // more places at a time, or seats of a session, are booked than offered
	RuleMoved   = "moved"   // the event of the tickets is at another time
)

// The values of Whose: the owner of the hours, override, block or booking that a [Reason] refers to.
const (
	OfBusiness = "business"
	OfStaff    = "staff"
)

// NoStarts maps each date of a window to the rule of the offer because of which the date has no starts.
// The value [RuleBooking] means that the date has starts, unless the time is occupied. It is the answer
// of GET /internal/api/public/{slug}/no-starts, which takes the parameters of /available-dates.
type NoStarts struct {
	Rules map[timespan.Date]string `json:"rules"`
}

// ExplainRequest asks why one start of an appointment can or cannot be booked (POST /internal/explain).
type ExplainRequest struct {
	Slug         string   `json:"slug"`
	OfferVersion int64    `json:"offer_version"` // the answer is computed on this version or a newer one
	Question     Question `json:"question"`
}

// Tenant returns the business's slug.
func (r ExplainRequest) Tenant() string { return r.Slug }

// Explanation reports whether customers can book a start and, if not, the reason.
type Explanation struct {
	Computed bool    `json:"computed"` // false if the offer or the occupied time could not be read: nothing is known
	Timezone string  `json:"timezone"`
	Bookable bool    `json:"bookable"`
	Reason   *Reason `json:"reason"` // first rule that prevents every booking; null if bookable or unknown
	// Staff are all members who perform the services, in Auto-Assign order. It
	// is empty if the services need no staff or the request names one member.
	Staff []MemberExplanation `json:"staff"`
}

// MemberExplanation is the explanation for one member.
type MemberExplanation struct {
	StaffID  uuid.UUID `json:"staff_id"`
	Name     string    `json:"name"`
	Bookable bool      `json:"bookable"`
	Reason   *Reason   `json:"reason"`
}

// Reason is the first rule that prevents a booking, and its cause. Times are in the business's time zone.
type Reason struct {
	Rule    string `json:"rule"`
	Message string `json:"message"` // one English sentence
	// The owner of the hours, override, block or booking: [OfBusiness] or [OfStaff].
	Whose     string     `json:"whose,omitempty"`
	StaffID   *uuid.UUID `json:"staff_id,omitempty"`   // the member, if the reason is about one
	StaffName string     `json:"staff_name,omitempty"` // that member's name
	// Name is a block's reason, the class that a member teaches, or the inactive service.
	Name string `json:"name,omitempty"`
	// Date is the date of an override, the last date within the advance limit, or the end of a pause.
	Date *timespan.Date `json:"date,omitempty"`
	// From is the start of a block or of a booking with buffers, or the first start after the notice.
	From    *timespan.LocalDateTime `json:"from,omitempty"`
	To      *timespan.LocalDateTime `json:"to,omitempty"`
	Minutes int                     `json:"minutes,omitempty"` // of buffer, notice and grid
	Booked  int                     `json:"booked,omitempty"`  // of too_few: places booked at the same time
	Offered int                     `json:"offered,omitempty"` // of too_few: places that are offered
}

// Explain sets Message to one English sentence for the rule.
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

// sentence returns the message. who is the grammatical subject; whose names the owner of the hours.
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
		return "An override of " + whose + " hours" + on(r.Date) + " leaves this time out."
	case RuleClosed:
		if r.Whose == OfStaff {
			return who + " does not work then."
		}
		return "The business is closed then."
	case RuleBlock:
		return fmt.Sprintf("%s is blocked from %s to %s%s.", who, r.From, r.To, because(r.Name))
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

// limit returns the message of a rule that comes from a setting of the business.
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

func because(reason string) string {
	if reason == "" {
		return ""
	}
	return " (" + reason + ")"
}

func on(d *timespan.Date) string {
	if d == nil {
		return ""
	}
	return " on " + d.String()
}
