package view

import (
	"slices"

	"github.com/slotmesh/slotmesh/libs/contracts/availability"
	"github.com/slotmesh/slotmesh/libs/contracts/catalog"
	"github.com/slotmesh/slotmesh/libs/values/timespan"
	"github.com/slotmesh/slotmesh/services/console/internal/identity/access"
)

// Suffixes of the ids of message texts that are about a member instead of the business or the service.
const (
	memberParameter = "_member" // the message text names the member
	staffParameter  = "_staff"  // the message text is about all members who could serve the booking
)

// reasonForms maps each rule of the availability service to the suffixes of the rule's message texts. Each rule also
// has a message text without a suffix.
var reasonForms = map[string][]string{
	availability.RuleNoSession:    nil,
	availability.RuleNoSuchTime:   nil,
	availability.RuleNotPerformed: {memberParameter},
	availability.RuleInactive:     {memberParameter, staffParameter},
	availability.RuleOverride:     {memberParameter, staffParameter},
	availability.RuleClosed:       {memberParameter, staffParameter},
	availability.RuleBlock:        {memberParameter, staffParameter},
	availability.RuleClass:        {memberParameter},
	availability.RuleBooking:      {memberParameter, staffParameter},
	availability.RuleBuffer:       nil,
	availability.RuleGrid:         nil,
	availability.RulePast:         nil,
	availability.RuleNotice:       nil,
	availability.RuleAdvanceLimit: nil,
	availability.RuleClassFull:    nil,
	availability.RuleSubscription: nil,
	availability.RuleRemoval:      nil,
	availability.RuleNotOpen:      nil,
	availability.RulePaused:       nil,
	availability.RuleRemoved:      {memberParameter},
	availability.RuleTooFew:       nil,
	availability.RuleMoved:        nil,
	availability.RuleRelocated:    nil,
}

// ExplainReason returns a text that explains why a start cannot be booked. For an unknown rule, it returns the English
// message of the availability service.
func (p *Page) ExplainReason(r availability.Reason) string {
	forms, isKnown := reasonForms[r.Rule]
	if !isKnown {
		return r.Message
	}
	id := "why_" + r.Rule
	switch {
	case r.Rule == availability.RuleRelocated:
		return p.say("booked_location") + ": " + r.Name
	case r.Rule == availability.RuleNotOpen:
		id = "first_unopened" // the page Today shows the same message text
	case r.Rule == availability.RulePaused:
		id = "paused_until" // the page Today shows the same message text
	case r.StaffName != "" && slices.Contains(forms, memberParameter):
		id += memberParameter
	case r.Whose == availability.OfStaff && slices.Contains(forms, staffParameter):
		id += staffParameter
	}
	output := p.Words.Fill(id, map[string]string{
		"Who": r.StaffName, "Name": r.Name, "Day": p.formatDate(r.Date), "From": p.formatLocal(r.From),
		"To":      p.formatUntil(r.From, r.To),
		"Minutes": p.Words.Count("offer_minutes", r.Minutes), "Booked": p.Words.Number(r.Booked),
		"Offered": p.Words.Number(r.Offered),
	})
	switch {
	case r.Rule == availability.RuleBlock && r.Name != "":
		output += " " + p.Words.With("why_block_note", "Note", r.Name)
	case r.Rule == availability.RuleTooFew && r.Name != "":
		output = r.Name + ": " + output
	}
	return output
}

func (p *Page) formatDate(d *timespan.Date) string {
	if d == nil {
		return ""
	}
	return p.Words.Date(toNoon(*d))
}

// formatLocal formats a local date and time, or returns "" for nil.
func (p *Page) formatLocal(l *timespan.LocalDateTime) string {
	if l == nil {
		return ""
	}
	return p.Words.ShortDate(toNoon(l.Date)) + " · " + p.formatClock(int(l.Time))
}

// formatUntil formats the end of a period. It omits the date if the period begins and ends on the same date.
func (p *Page) formatUntil(from, to *timespan.LocalDateTime) string {
	if from != nil && to != nil && from.Date == to.Date {
		return p.formatClock(int(to.Time))
	}
	return p.formatLocal(to)
}

// remedy is a link to a form. In this form, a person can remove the reason why a start cannot be booked.
type remedy struct{ path, name string }

// findRemedy returns a link to the form in which the signed-in person can remove the reason why a start cannot be
// booked. The path of the link is "" if no form can remove the reason, or if the person may not use this form.
func (p *Page) findRemedy(r availability.Reason, requested *catalog.Service) remedy {
	if !p.May(access.ChangeOffer) {
		return remedy{}
	}
	ofStaff := r.Whose == availability.OfStaff
	switch r.Rule {
	case availability.RuleNotOpen:
		return remedy{"/first", p.say("first_go_on")}
	case availability.RulePaused:
		return remedy{"/pause", p.say("pause")}
	case availability.RuleNotice, availability.RuleAdvanceLimit:
		return remedy{"/offer/policies", p.say("offer_policies")}
	case availability.RuleBlock:
		return remedy{"/offer/hours", p.say("offer_hours")}
	case availability.RuleOverride, availability.RuleClosed:
		if ofStaff {
			return p.linkMemberForm(r)
		}
		return remedy{"/offer/hours", p.say("offer_hours")}
	case availability.RuleInactive:
		if ofStaff {
			return p.linkMemberForm(r)
		}
		return p.linkServiceForm(requested)
	case availability.RuleClass:
		return p.linkServiceForm(p.findClass(r.Name))
	case availability.RuleNoSession, availability.RuleClassFull, availability.RuleNotPerformed, availability.RuleBuffer,
		availability.RuleGrid:
		return p.linkServiceForm(requested)
	}
	return remedy{}
}

// linkMemberForm returns a link to the form in which a person edits the member that is named in `r`. If the reason
// names no member, linkMemberForm returns a link to the list of all members.
func (p *Page) linkMemberForm(r availability.Reason) remedy {
	if r.StaffID != nil {
		if m := p.Business.StaffMember(*r.StaffID); m != nil {
			return remedy{"/offer/team/" + m.Key, m.Name}
		}
	}
	return remedy{"/offer/team", p.say("offer_team")}
}

func (p *Page) linkServiceForm(s *catalog.Service) remedy {
	switch {
	case s == nil:
		return remedy{"/offer/services", p.say("offer_services")}
	case s.IsClass():
		return remedy{"/offer/classes/" + s.Key, s.Name}
	}
	return remedy{"/offer/services/" + s.Key, s.Name}
}

func (p *Page) findClass(name string) *catalog.Service {
	i := slices.IndexFunc(p.Business.Services, func(s catalog.Service) bool { return s.IsClass() && s.Name == name })
	if i < 0 {
		return nil
	}
	return &p.Business.Services[i]
}

// isOverridable reports whether the owner can book although the rule in `r` forbids it. Some of these rules need an
// override (admin.md).
func isOverridable(r availability.Reason) bool {
	rules := []string{availability.RuleNotice, availability.RuleAdvanceLimit, availability.RuleGrid,
		availability.RuleNotOpen, availability.RulePaused}
	return slices.Contains(rules, r.Rule) || isOfHours(r)
}

// isOfHours reports whether the rule of a reason is about working hours. The owner can override these rules.
func isOfHours(r availability.Reason) bool {
	return r.Rule == availability.RuleClosed || r.Rule == availability.RuleOverride
}
