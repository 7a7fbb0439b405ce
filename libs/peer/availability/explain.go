package availability

import (
	"fmt"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/timespan"
)

// The rules that can keep a start from being booked (pages.md, "Why not?"), in the order in which they are named. Clients must
// expect new ones.
const (
	RuleNoSession    = "no_session"    // of a class: none starts then
	RuleNoSuchTime   = "no_such_time"  // the business's clock leaves the date out
	RuleNotPerformed = "not_performed" // nobody, or not this member, performs the services
	RuleInactive     = "inactive"      // the service or the member is
	RuleOverride     = "override"
	RuleClosed       = "closed"
	RuleBlock        = "block"
	RuleClass        = "class" // the member gives a class then
	RuleBooking      = "booking"
	RuleBuffer       = "buffer" // of the services asked for
	RuleGrid         = "grid"
	RulePast         = "past"
	RuleNotice       = "notice"
	RuleAdvanceLimit = "advance_limit"
	RuleClassFull    = "class_full"
	// What does not keep a start out of /slots, but customers from booking it (interface.md §3).
	RuleSubscription = "subscription"
	RuleRemoval      = "removal"
	RuleNotOpen      = "not_open" // the business is not open for bookings yet
	RulePaused       = "paused"
	// What keeps a booking that lies ahead from being booked again as it is, beside those before.
	RuleRemoved = "removed" // the service, the variant or the member is no longer in the offer
	RuleTooFew  = "too_few" // more are booked at a time, or more seats of a session, than are offered
	RuleMoved   = "moved"   // the event of the tickets is at another time
)

// Whose hours, override, block or booking a [Reason] means.
const (
	OfBusiness = "business"
	OfStaff    = "staff"
)

// NoStarts has for each date of a window the rule that leaves it without starts, by the offer alone, and [RuleBooking] if
// none does: such a date has starts unless its time is taken (GET /internal/api/public/{slug}/no-starts, with the
// parameters of /available-dates).
type NoStarts struct {
	Rules map[timespan.Date]string `json:"rules"`
}

// ExplainRequest asks why one start of an appointment can or cannot be booked (POST /internal/explain).
type ExplainRequest struct {
	Slug         string   `json:"slug"`
	OfferVersion int64    `json:"offer_version"` // the answer is computed on this version or a newer one
	Question     Question `json:"question"`
}

// Tenant is the business's slug.
func (r ExplainRequest) Tenant() string { return r.Slug }

// Explanation says whether a start can be booked by customers and, where not, why.
type Explanation struct {
	Computed bool    `json:"computed"` // false: offer or occupied time could not be read, and nothing is known
	Timezone string  `json:"timezone"`
	Bookable bool    `json:"bookable"`
	Reason   *Reason `json:"reason"` // the first rule that keeps it from being booked by anyone; null where it can be, or nothing is known
	// Staff are all who perform the services, in Auto-Assign order; empty where no staff do, or one member was asked for.
	Staff []MemberExplanation `json:"staff"`
}

// MemberExplanation is the same of one member.
type MemberExplanation struct {
	StaffID  uuid.UUID `json:"staff_id"`
	Name     string    `json:"name"`
	Bookable bool      `json:"bookable"`
	Reason   *Reason   `json:"reason"`
}

// Reason is the first rule that keeps a start from being booked, and its cause. Times are the business's.
type Reason struct {
	Rule      string                  `json:"rule"`
	Message   string                  `json:"message"`              // one English sentence
	Whose     string                  `json:"whose,omitempty"`      // of hours, overrides, blocks and bookings: business or staff
	StaffID   *uuid.UUID              `json:"staff_id,omitempty"`   // which member's, where it is one's
	StaffName string                  `json:"staff_name,omitempty"` // theirs
	Name      string                  `json:"name,omitempty"`       // a block's reason, the class that a member gives, the service that is inactive
	Date      *timespan.Date          `json:"date,omitempty"`       // an override's, the last that the advance limit allows, or from which on bookings are taken again
	From      *timespan.LocalDateTime `json:"from,omitempty"`       // of a block, a booking with its buffers; the first start after the notice
	To        *timespan.LocalDateTime `json:"to,omitempty"`
	Minutes   int                     `json:"minutes,omitempty"` // of buffer, notice and grid
	Booked    int                     `json:"booked,omitempty"`  // of too_few: places that are booked at a time
	Offered   int                     `json:"offered,omitempty"` // of too_few: places that there are
}

// Explain writes the reason's message.
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

// sentence says it of who, and of whose hours.
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

// limit says what the settings do not allow.
func (r *Reason) limit() string {
	switch r.Rule {
	case RuleBuffer:
		return fmt.Sprintf("The service's own buffer of up to %d minutes does not fit between what is taken.", r.Minutes)
	case RuleGrid:
		return fmt.Sprintf("Starts lie %d minutes apart, counted from when hours begin, and this is between two of them.", r.Minutes)
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
