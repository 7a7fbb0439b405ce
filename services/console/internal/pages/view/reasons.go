package view

import (
	"slices"

	"github.com/slotmesh/slotmesh/libs/peer/availability"
	"github.com/slotmesh/slotmesh/libs/peer/catalog"
	"github.com/slotmesh/slotmesh/libs/timespan"
	"github.com/slotmesh/slotmesh/services/console/internal/access"
)

// Who a sentence is about, where it is not the business or the service.
const (
	aboutMember = "_member" // one who is named
	aboutStaff  = "_staff"  // whoever performs the services
)

// reasonForms are the rules of the engine, each with the forms that its sentence has beside the plain one.
var reasonForms = map[string][]string{
	availability.RuleNoSession:    nil,
	availability.RuleNoSuchTime:   nil,
	availability.RuleNotPerformed: {aboutMember},
	availability.RuleInactive:     {aboutMember, aboutStaff},
	availability.RuleOverride:     {aboutMember, aboutStaff},
	availability.RuleClosed:       {aboutMember, aboutStaff},
	availability.RuleBlock:        {aboutMember, aboutStaff},
	availability.RuleClass:        {aboutMember},
	availability.RuleBooking:      {aboutMember, aboutStaff},
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
	availability.RuleRemoved:      {aboutMember},
	availability.RuleTooFew:       nil,
	availability.RuleMoved:        nil,
}

// Reason says why a start cannot be booked; of a rule that is not known here, as the engine itself says it.
func (p *Page) Reason(r availability.Reason) string {
	forms, known := reasonForms[r.Rule]
	if !known {
		return r.Message
	}
	id := "why_" + r.Rule
	switch {
	case r.Rule == availability.RuleNotOpen:
		id = "first_unopened" // as Today says it
	case r.Rule == availability.RulePaused:
		id = "paused_until" // as Today says it
	case r.StaffName != "" && slices.Contains(forms, aboutMember):
		id += aboutMember
	case r.Whose == availability.OfStaff && slices.Contains(forms, aboutStaff):
		id += aboutStaff
	}
	said := p.Words.Fill(id, map[string]string{
		"Who": r.StaffName, "Name": r.Name, "Day": p.dateOf(r.Date), "From": p.localMoment(r.From), "To": p.until(r.From, r.To),
		"Minutes": p.Words.Count("offer_minutes", r.Minutes), "Booked": p.Words.Number(r.Booked), "Offered": p.Words.Number(r.Offered),
	})
	switch {
	case r.Rule == availability.RuleBlock && r.Name != "":
		said += " " + p.Words.With("why_block_note", "Note", r.Name)
	case r.Rule == availability.RuleTooFew && r.Name != "":
		said = r.Name + ": " + said
	}
	return said
}

func (p *Page) dateOf(d *timespan.Date) string {
	if d == nil {
		return ""
	}
	return p.Words.Date(day(*d))
}

// localMoment is a moment of the business's clock, whole.
func (p *Page) localMoment(l *timespan.LocalDateTime) string {
	if l == nil {
		return ""
	}
	return p.Words.ShortDate(day(l.Date)) + " · " + p.clockOf(int(l.Time))
}

// until is a moment after another, without the date where that is the same.
func (p *Page) until(from, to *timespan.LocalDateTime) string {
	if from != nil && to != nil && from.Date == to.Date {
		return p.clockOf(int(to.Time))
	}
	return p.localMoment(to)
}

// remedy is the form where what keeps a start from being booked can be changed.
type remedy struct{ path, name string }

// remedy is where the person can change what a reason names; no path where they cannot, or nothing can be changed.
func (p *Page) remedy(r availability.Reason, asked *catalog.Service) remedy {
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
			return p.memberForm(r)
		}
		return remedy{"/offer/hours", p.say("offer_hours")}
	case availability.RuleInactive:
		if ofStaff {
			return p.memberForm(r)
		}
		return p.serviceForm(asked)
	case availability.RuleClass:
		return p.serviceForm(p.classNamed(r.Name))
	case availability.RuleNoSession, availability.RuleClassFull, availability.RuleNotPerformed, availability.RuleBuffer, availability.RuleGrid:
		return p.serviceForm(asked)
	}
	return remedy{}
}

// memberForm is the form of the member that a reason names, else the list of all.
func (p *Page) memberForm(r availability.Reason) remedy {
	if r.StaffID != nil {
		if m := p.Business.StaffMember(*r.StaffID); m != nil {
			return remedy{"/offer/team/" + m.Key, m.Name}
		}
	}
	return remedy{"/offer/team", p.say("offer_team")}
}

func (p *Page) serviceForm(s *catalog.Service) remedy {
	switch {
	case s == nil:
		return remedy{"/offer/services", p.say("offer_services")}
	case s.Class():
		return remedy{"/offer/classes/" + s.Key, s.Name}
	}
	return remedy{"/offer/services/" + s.Key, s.Name}
}

func (p *Page) classNamed(name string) *catalog.Service {
	i := slices.IndexFunc(p.Business.Services, func(s catalog.Service) bool { return s.Class() && s.Name == name })
	if i < 0 {
		return nil
	}
	return &p.Business.Services[i]
}

// yields reports whether a rule does not bind the owner, by itself or by an override (admin.md).
func yields(r availability.Reason) bool {
	rules := []string{availability.RuleNotice, availability.RuleAdvanceLimit, availability.RuleGrid,
		availability.RuleNotOpen, availability.RulePaused}
	return slices.Contains(rules, r.Rule) || isOfHours(r)
}

// isOfHours reports whether a rule says when work is done, which the owner overrides.
func isOfHours(r availability.Reason) bool {
	return r.Rule == availability.RuleClosed || r.Rule == availability.RuleOverride
}
