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

// validator checks what depends on several values: references between
// objects, unique values, and fields that depend on each other.
type validator struct {
	m      *Manifest
	report *report
	root   *yaml.Node

	business  uuid.UUID
	currency  money.Currency // zero if the currency could not be read
	languages map[Language]bool
	staff     keyList
	services  keyList
	events    keyList
	rentals   keyList
	locations keyList
	ids       map[uuid.UUID]idOwner

	comparisons int // number of keys that were compared to find similar keys
}

// maxComparisons is the maximal number of comparisons to find similar keys. Without this limit,
// the search would be expensive for a large document, and a hint is not worth this cost.
const maxComparisons = 50_000

// keyList holds the keys of the objects in one list.
type keyList struct {
	what string // noun for one object, for messages
	set  map[Key]bool
	list []string
}

// idOwner is the object that has an id. The field isManual reports that the manifest sets the id.
type idOwner struct {
	at       *path
	isManual bool
}

func newValidator(m *Manifest, r *report, root *yaml.Node) *validator {
	v := &validator{
		m: m, report: r, root: root,
		business:  m.BusinessID(),
		languages: map[Language]bool{},
		staff:     newKeyList("staff member", m.Staff, func(s *Staff) Key { return s.Key }),
		services:  newKeyList("service", m.Services, func(s *Service) Key { return s.Key }),
		events:    newKeyList("event", m.Events, func(e *Event) Key { return e.Key }),
		rentals:   newKeyList("rental", m.Rentals, func(r *Rental) Key { return r.Key }),
		locations: newKeyList("location", m.Locations, func(l *Location) Key { return l.Key }),
		ids:       map[uuid.UUID]idOwner{},
	}
	if c, err := money.ParseCurrency(string(m.Currency)); err == nil {
		v.currency = c
	}
	for _, l := range m.OfferedLanguages() {
		v.languages[l] = true
	}
	return v
}

func newKeyList[T any](what string, list []T, key func(*T) Key) keyList {
	n := keyList{what: what, set: make(map[Key]bool, len(list))}
	for i := range list {
		if k := key(&list[i]); !n.set[k] {
			n.set[k] = true
			n.list = append(n.list, string(k))
		}
	}
	return n
}

// addProblem reports a problem of the value at a path. addProblem returns nil and reports nothing if this
// value, or a value that contains it, could not be read. addProblem also returns nil if the report is full.
func (v *validator) addProblem(at *path, format string, args ...any) *Problem {
	switch {
	case v.report.hasFailed(at):
		return nil
	case v.report.isFull():
		v.report.dropped++
		return nil
	default:
		return v.report.add(at, findLine(v.root, at), format, args...)
	}
}

func (v *validator) checkManifest() {
	m, root := v.m, (*path)(nil)
	v.recordID(root.field("id"), m.ID, v.business)
	v.checkLanguages(root)
	checkTranslations(v, root, m.Translations)
	v.checkButtons(root.field("action_buttons"))
	v.checkLocations(root.field("locations"))
	v.checkLegal(root.field("legal"))
	v.checkPayments(root.field("payments"))
	v.checkCancellation(root.field("cancellation_policy"))
	v.checkNotifications(root.field("notifications"))
	v.checkPage(root.field("page"))
	v.checkForm(root.field("form"))
	v.checkOverrides(root.field("overrides"), m.Overrides)
	v.checkBlocks(root.field("blocks"))
	v.checkStaff(root.field("staff"))
	v.checkServices(root.field("services"))
	v.checkPackages(root.field("packages"))
	v.checkEvents(root.field("events"))
	v.checkRentals(root.field("rentals"))
	v.checkRules(root.field("pricing_rules"))
}

// checkUnique reports each item of a list whose value equals that of an earlier item. The argument
// `field` is the name of the field with the value. If the item itself is the value, `field` is "".
func checkUnique[T any, K comparable](v *validator, at *path, list []T, field string, value func(*T) K) {
	first := make(map[K]int, len(list))
	for i := range list {
		k := value(&list[i])
		j, isDuplicate := first[k]
		if !isDuplicate {
			first[k] = i
			continue
		}
		here := at.item(i)
		if field != "" {
			here = here.field(field)
		}
		if !v.report.hasFailed(at.item(j)) {
			v.addProblem(here, "is %s, as in item %d of the list; write each only once", quote(fmt.Sprint(k)), j).
				setCode(CodeTwice, "Value", shorten(fmt.Sprint(k)))
		}
	}
}

func identity[T any](value *T) T { return *value }

// recordID stores the id of an object. It reports a problem if another object of the business
// has the same id. The argument `byHand` is the id in the manifest, or nil if the id is derived.
func (v *validator) recordID(at *path, byHand *ID, id uuid.UUID) {
	other, taken := v.ids[id]
	if !taken {
		v.ids[id] = idOwner{at, byHand != nil}
		return
	}
	// Two derived ids are equal only if two objects have the same key. That problem is reported at the key.
	switch {
	case byHand != nil:
		v.addProblem(at, "is %s, which is also the id of %s; write another or leave it out", id,
			other.at.parent.describeOwner())
	case other.isManual:
		v.addProblem(other.at, "is %s, which is also the id of %s; write another or leave it out", id,
			at.parent.describeOwner())
	}
}

func (p *path) describeOwner() string {
	if p == nil {
		return "the business"
	}
	return p.String()
}

// checkKey reports a key that is not in the argument `to`, the list of
// known keys. It adds a hint that names the most similar known key.
func (v *validator) checkKey(at *path, key Key, to *keyList) {
	if to.set[key] {
		return
	}
	hint := "write the key of one that is listed"
	if v.comparisons < maxComparisons {
		v.comparisons += len(to.list)
		if near := findNearest(string(key), to.list); near != "" {
			hint = "did you mean " + near + "?"
		}
	}
	v.addProblem(at, "names %s, but there is no such %s; %s", quote(string(key)), to.what, hint).setCode(CodeUnknown)
}

// checkKeys reports keys that are not in the argument `to`, the
// list of known keys. It also reports keys that occur twice.
func (v *validator) checkKeys(at *path, keys []Key, to *keyList) {
	checkUnique(v, at, keys, "", identity[Key])
	for i, k := range keys {
		if !to.set[k] {
			v.checkKey(at.item(i), k, to)
		}
	}
}

func (v *validator) checkLanguages(root *path) {
	at := root.field("languages")
	unread := v.report.hasFailed(at) || len(v.m.Languages) == 0 && v.report.hasFailed(root.field("default_language"))
	for i := range v.m.Languages {
		unread = unread || v.report.hasFailed(at.item(i))
	}
	if unread {
		v.languages = nil // unknown, so that translations are not checked
		return
	}
	checkUnique(v, at, v.m.Languages, "", identity[Language])
	if d := v.m.DefaultLanguage; !v.languages[d] && d != "" {
		v.addProblem(at, "lacks the default language %s; add it", d).setCode(CodeDefaultLanguage, "Language", d)
	}
}

// checkTranslations reports translations into languages that the business does not offer.
func checkTranslations[T any](v *validator, at *path, translations map[Language]T) {
	for _, l := range sortLanguages(translations) {
		if v.languages == nil || v.languages[l] {
			continue
		}
		v.addProblem(at.field("translations").field(string(l)),
			"is not among the languages of the business; add it there or remove the translation").
			setCode(CodeForeignLanguage, "Language", l)
	}
}

// sortLanguages returns the languages of the translations in alphabetical order.
func sortLanguages[T any](translations map[Language]T) []Language {
	return slices.Sorted(maps.Keys(translations))
}

// checkButtons reports buttons, of any type, that open something other than a
// URL, an email address or a telephone number. Such a button could run a script.
func (v *validator) checkButtons(at *path) {
	for i, b := range v.m.ActionButtons {
		if (b.Content != "" || b.Type == "link") && !isLink(b.Content) {
			v.addProblem(at.item(i).field("content"),
				"is %s; write where the button leads: an http:// or https:// address, mailto: or tel:, with %%22 and "+
					"the like for %s",
				quote(b.Content), unsafeNames).setCode(CodeURL, "Value", shorten(b.Content))
		}
	}
}

func (v *validator) checkPayments(at *path) {
	providers := v.m.PaymentProviders()
	checkUnique(v, at.field("providers"), providers, "", identity[string])
	accounts := v.m.PaymentAccounts()
	for _, name := range slices.Sorted(maps.Keys(accounts)) {
		account, here := accounts[name], at.field("accounts").field(name)
		if !slices.Contains(providers, name) {
			v.addProblem(here, "is no provider of the business; add it to providers or remove the account")
		} else if account == "" {
			v.addProblem(here, "is blank; write the account's identifier or remove it")
		}
	}
}

func (v *validator) checkCancellation(at *path) {
	checkUnique(v, at, v.m.CancellationPolicy, "hours_before", func(s *CancellationStep) int { return s.HoursBefore })
}

func (v *validator) checkNotifications(at *path) {
	n := v.m.Notifications
	if n == nil {
		return
	}
	checkUnique(v, at.field("owner_emails"), n.OwnerEmails, "", identity[Email])
	checkUnique(v, at.field("reminders_hours_before"), n.RemindersHoursBefore, "", identity[int])
	for _, kind := range slices.Sorted(maps.Keys(n.Notes)) {
		checkTranslations(v, at.field("notes").field(string(kind)), n.Notes[kind].Translations)
	}
	for _, kind := range slices.Sorted(maps.Keys(n.Intros)) {
		v.checkIntro(at.field("intros").field(string(kind)), n.Intros[kind])
	}
}

func (v *validator) checkOverrides(at *path, list []DayOverride) {
	checkUnique(v, at, list, "date", func(o *DayOverride) timespan.Date { return o.Date })
}

func (v *validator) checkBlocks(at *path) {
	for i := range v.m.Blocks {
		b, here := &v.m.Blocks[i], at.item(i)
		if !b.From.Before(b.To) {
			v.addProblem(here.field("to"), "is %s, which is not after from (%s); end the block after it begins", b.To,
				b.From).
				setCode(CodeOrder)
		}
		v.checkKeys(here.field("staff"), b.Staff, &v.staff)
	}
}

// checkAmount reports an amount that has more decimals than the currency, or that is too large.
func (v *validator) checkAmount(at *path, d Decimal) {
	if v.currency.Code == "" {
		return
	}
	_, err := v.currency.Minor(d.Decimal)
	switch {
	case err == nil:
	case d.Exponent() < 0 && d.Abs().LessThan(money.Limit()):
		v.addProblem(at, "%s", err).setCode(CodeDecimals, "Max", v.currency.Digits)
	default:
		v.addProblem(at, "%s", err).setCode(CodeAmountTooLarge, "Max", money.Limit())
	}
}

// maxPercentDecimals is the maximal number of decimals of a percentage. It limits
// the length of the exact result if several percentages are applied to a price.
const maxPercentDecimals = 4

func (v *validator) checkPercent(at *path, d Decimal) {
	if d.Exponent() < -maxPercentDecimals {
		v.addProblem(at, "is %s; write a percentage of at most %d decimals", d, maxPercentDecimals).
			setCode(CodeDecimals, "Max", maxPercentDecimals)
	}
}

// checkDeposit reports a deposit_value that is out of range. It also reports a deposit_value that is
// missing although the payment requirement needs one, or present although the requirement needs none.
func (v *validator) checkDeposit(at *path, requirement string, value *Decimal) {
	here := at.field("deposit_value")
	switch {
	case requirement != "deposit_percent" && requirement != "deposit_fixed":
		if value != nil {
			v.addProblem(here,
				"goes only with payment_requirement deposit_percent or deposit_fixed, not %s; remove it "+
					"or set one of them", requirement).
				setCode(CodeExcludes, "With", "payment_requirement")
		}
	case value == nil:
		v.addProblem(here, "is missing; payment_requirement %s needs it", requirement).setCode(CodeMissing)
	case !value.IsPositive():
		v.addProblem(here, "is %s; write a deposit above 0", value).setCode(CodePositive)
	case requirement == "deposit_fixed":
		v.checkAmount(here, *value)
	case value.GreaterThan(hundred):
		v.addProblem(here, "is %s percent; write at most 100", value).setCode(CodeNumberRange, "Min", 1, "Max", 100)
	default:
		v.checkPercent(here, *value)
	}
}

func (v *validator) checkOrder(at *path, name string, low *int, highName string, high *int) {
	if low != nil && high != nil && *low > *high {
		v.addProblem(at.field(highName), "is %d, below %s (%d); write at least that", *high, name, *low).
			setCode(CodeNumberMin, "Min", *low)
	}
}
