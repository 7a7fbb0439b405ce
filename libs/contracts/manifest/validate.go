package manifest

import (
	"fmt"
	"maps"
	"slices"

	"github.com/google/uuid"
	"go.yaml.in/yaml/v3"

	"github.com/slotmesh/slotmesh/libs/values/money"
	"github.com/slotmesh/slotmesh/libs/values/timespan"
)

// validator makes the checks that need several values: references, uniqueness, and fields that depend on each other.
type validator struct {
	m      *Manifest
	report *report
	root   *yaml.Node

	business  uuid.UUID
	currency  money.Currency // zero if the currency could not be read
	languages map[Language]bool
	staff     names
	services  names
	events    names
	rentals   names
	ids       map[uuid.UUID]owner

	compared int // number of names compared with unknown names
}

// maxCompared bounds the search for similar names. A hint is not worth an expensive search.
const maxCompared = 50_000

// names are the keys of one list.
type names struct {
	what string // singular, for messages
	set  map[Key]bool
	list []string
}

// owner is the object that has an id.
type owner struct {
	at     *path
	byHand bool
}

func newValidator(m *Manifest, r *report, root *yaml.Node) *validator {
	v := &validator{
		m: m, report: r, root: root,
		business:  m.BusinessID(),
		languages: map[Language]bool{},
		staff:     namesOf("staff member", m.Staff, func(s *Staff) Key { return s.Key }),
		services:  namesOf("service", m.Services, func(s *Service) Key { return s.Key }),
		events:    namesOf("event", m.Events, func(e *Event) Key { return e.Key }),
		rentals:   namesOf("rental", m.Rentals, func(r *Rental) Key { return r.Key }),
		ids:       map[uuid.UUID]owner{},
	}
	if c, err := money.ParseCurrency(string(m.Currency)); err == nil {
		v.currency = c
	}
	for _, l := range m.OfferedLanguages() {
		v.languages[l] = true
	}
	return v
}

func namesOf[T any](what string, list []T, key func(*T) Key) names {
	n := names{what: what, set: make(map[Key]bool, len(list))}
	for i := range list {
		if k := key(&list[i]); !n.set[k] {
			n.set[k] = true
			n.list = append(n.list, string(k))
		}
	}
	return n
}

// problem reports a problem. It returns nil if the value, or one around it, could not be read, or if
// the report is full.
func (v *validator) problem(at *path, format string, args ...any) *Problem {
	switch {
	case v.report.hasFailed(at):
		return nil
	case v.report.full():
		v.report.dropped++
		return nil
	default:
		return v.report.add(at, lineOf(v.root, at), format, args...)
	}
}

func (v *validator) manifest() {
	m, root := v.m, (*path)(nil)
	v.id(root.field("id"), m.ID, v.business)
	v.languageList(root)
	translated(v, root, m.Translations)
	v.buttons(root.field("action_buttons"))
	v.payments(root.field("payments"))
	v.cancellation(root.field("cancellation_policy"))
	v.notifications(root.field("notifications"))
	v.page(root.field("page"))
	v.form(root.field("form"))
	v.overrides(root.field("overrides"), m.Overrides)
	v.blocks(root.field("blocks"))
	v.staffList(root.field("staff"))
	v.serviceList(root.field("services"))
	v.packageList(root.field("packages"))
	v.eventList(root.field("events"))
	v.rentalList(root.field("rentals"))
	v.ruleList(root.field("pricing_rules"))
}

// once reports each item of a list that has the same value as an earlier item. The
// argument field is the field with the value; "" if the item itself is the value.
func once[T any, K comparable](v *validator, at *path, list []T, field string, value func(*T) K) {
	first := make(map[K]int, len(list))
	for i := range list {
		k := value(&list[i])
		j, twice := first[k]
		if !twice {
			first[k] = i
			continue
		}
		here := at.item(i)
		if field != "" {
			here = here.field(field)
		}
		if !v.report.hasFailed(at.item(j)) {
			v.problem(here, "is %s, as in item %d of the list; write each only once", quote(fmt.Sprint(k)), j).
				as(CodeTwice, "Value", clipped(fmt.Sprint(k)))
		}
	}
}

func same[T any](value *T) T { return *value }

// id records an object's id, derived or set by hand, and reports an id that another object of the business has.
func (v *validator) id(at *path, byHand *ID, id uuid.UUID) {
	other, taken := v.ids[id]
	if !taken {
		v.ids[id] = owner{at, byHand != nil}
		return
	}
	// Two derived ids are equal only if a key is written twice, which is reported at the key.
	switch {
	case byHand != nil:
		v.problem(at, "is %s, which is also the id of %s; write another or leave it out", id, other.at.parent.orRoot())
	case other.byHand:
		v.problem(other.at, "is %s, which is also the id of %s; write another or leave it out", id, at.parent.orRoot())
	}
}

func (p *path) orRoot() string {
	if p == nil {
		return "the business"
	}
	return p.String()
}

// refer reports a key that is not in the list, with a hint at the nearest key.
func (v *validator) refer(at *path, key Key, to *names) {
	if to.set[key] {
		return
	}
	hint := "write the key of one that is listed"
	if v.compared < maxCompared {
		v.compared += len(to.list)
		if near := nearest(string(key), to.list); near != "" {
			hint = "did you mean " + near + "?"
		}
	}
	v.problem(at, "names %s, but there is no such %s; %s", quote(string(key)), to.what, hint).as(CodeUnknown)
}

// referAll checks that each key of a list exists and is listed once.
func (v *validator) referAll(at *path, keys []Key, to *names) {
	once(v, at, keys, "", same[Key])
	for i, k := range keys {
		if !to.set[k] {
			v.refer(at.item(i), k, to)
		}
	}
}

func (v *validator) languageList(root *path) {
	at := root.field("languages")
	unread := v.report.hasFailed(at) || len(v.m.Languages) == 0 && v.report.hasFailed(root.field("default_language"))
	for i := range v.m.Languages {
		unread = unread || v.report.hasFailed(at.item(i))
	}
	if unread {
		v.languages = nil // the languages are unknown, so translations are not checked
		return
	}
	once(v, at, v.m.Languages, "", same[Language])
	if d := v.m.DefaultLanguage; !v.languages[d] && d != "" {
		v.problem(at, "lacks the default language %s; add it", d).as(CodeDefaultLanguage, "Language", d)
	}
}

// translated reports translations into languages that the business does not offer.
func translated[T any](v *validator, at *path, translations map[Language]T) {
	var foreign []Language
	for l := range translations {
		if v.languages != nil && !v.languages[l] {
			foreign = append(foreign, l)
		}
	}
	slices.Sort(foreign)
	for _, l := range foreign {
		v.problem(at.field("translations").field(string(l)),
			"is not among the languages of the business; add it there or remove the translation").
			as(CodeForeignLanguage, "Language", l)
	}
}

// buttons checks that a button of any type opens an address, and cannot run a script.
func (v *validator) buttons(at *path) {
	for i, b := range v.m.ActionButtons {
		if (b.Content != "" || b.Type == "link") && !isLink(b.Content) {
			v.problem(at.item(i).field("content"),
				"is %s; write where the button leads: an http:// or https:// address, mailto: or tel:, with %%22 and "+
					"the like for %s",
				quote(b.Content), unsafeNames).as(CodeURL, "Value", clipped(b.Content))
		}
	}
}

func (v *validator) payments(at *path) {
	providers := v.m.PaymentProviders()
	once(v, at.field("providers"), providers, "", same[string])
	accounts := v.m.PaymentAccounts()
	for _, name := range slices.Sorted(maps.Keys(accounts)) {
		account, here := accounts[name], at.field("accounts").field(name)
		if !slices.Contains(providers, name) {
			v.problem(here, "is no provider of the business; add it to providers or remove the account")
		} else if account == "" {
			v.problem(here, "is blank; write the account's identifier or remove it")
		}
	}
}

func (v *validator) cancellation(at *path) {
	once(v, at, v.m.CancellationPolicy, "hours_before", func(s *CancellationStep) int { return s.HoursBefore })
}

func (v *validator) notifications(at *path) {
	n := v.m.Notifications
	if n == nil {
		return
	}
	once(v, at.field("owner_emails"), n.OwnerEmails, "", same[Email])
	once(v, at.field("reminders_hours_before"), n.RemindersHoursBefore, "", same[int])
	for _, kind := range slices.Sorted(maps.Keys(n.Notes)) {
		translated(v, at.field("notes").field(string(kind)), n.Notes[kind].Translations)
	}
}

func (v *validator) overrides(at *path, list []DayOverride) {
	once(v, at, list, "date", func(o *DayOverride) timespan.Date { return o.Date })
}

func (v *validator) blocks(at *path) {
	for i := range v.m.Blocks {
		b, here := &v.m.Blocks[i], at.item(i)
		if !b.From.Before(b.To) {
			v.problem(here.field("to"), "is %s, which is not after from (%s); end the block after it begins", b.To,
				b.From).
				as(CodeOrder)
		}
		v.referAll(here.field("staff"), b.Staff, &v.staff)
	}
}

// amount reports a price that has more decimals than the currency, or is too large.
func (v *validator) amount(at *path, d Decimal) {
	if v.currency.Code == "" {
		return
	}
	_, err := v.currency.Minor(d.Decimal)
	switch {
	case err == nil:
	case d.Exponent() < 0 && d.Abs().LessThan(money.Limit()):
		v.problem(at, "%s", err).as(CodeDecimals, "Max", v.currency.Digits)
	default:
		v.problem(at, "%s", err).as(CodeAmountTooLarge, "Max", money.Limit())
	}
}

// maxPercentDecimals keeps the exact results of several percentages short.
const maxPercentDecimals = 4

func (v *validator) percent(at *path, d Decimal) {
	if d.Exponent() < -maxPercentDecimals {
		v.problem(at, "is %s; write a percentage of at most %d decimals", d, maxPercentDecimals).
			as(CodeDecimals, "Max", maxPercentDecimals)
	}
}

// deposit checks that deposit_value is present exactly if the payment requirement needs it, and in range.
func (v *validator) deposit(at *path, requirement string, value *Decimal) {
	here := at.field("deposit_value")
	switch {
	case requirement != "deposit_percent" && requirement != "deposit_fixed":
		if value != nil {
			v.problem(here, "goes only with payment_requirement deposit_percent or deposit_fixed, not %s; remove it "+
				"or set one of them", requirement).
				as(CodeExcludes, "With", "payment_requirement")
		}
	case value == nil:
		v.problem(here, "is missing; payment_requirement %s needs it", requirement).as(CodeMissing)
	case !value.IsPositive():
		v.problem(here, "is %s; write a deposit above 0", value).as(CodePositive)
	case requirement == "deposit_fixed":
		v.amount(here, *value)
	case value.GreaterThan(hundred):
		v.problem(here, "is %s percent; write at most 100", value).as(CodeNumberRange, "Min", 1, "Max", 100)
	default:
		v.percent(here, *value)
	}
}

func (v *validator) ordered(at *path, name string, low *int, highName string, high *int) {
	if low != nil && high != nil && *low > *high {
		v.problem(at.field(highName), "is %d, below %s (%d); write at least that", *high, name, *low).
			as(CodeNumberMin, "Min", *low)
	}
}
