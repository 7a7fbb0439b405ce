package view

import (
	"slices"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"

	"github.com/slotmesh/slotmesh/services/console/internal/identity/access"
)

// target is a page that a search finds: a page with an action, or the page of an object of the business.
type target struct {
	name  string // name in the language of the page
	group string // what the page belongs to, such as Settings; "" for nothing
	words string // other words for the same, separated by commas
	path  string // path of the page, relative to the path of the business; an absolute path for the account
}

// maxTargets is the maximum number of pages that a search shows.
const maxTargets = 12

// wordsOf has the pages for which people use other words than the page's name. The id of the words is
// search_words_NAME.
var wordsOf = []string{"account", "business", "embed", "feeds", "hours", "locations", "members", "messages", "new",
	"notifications", "page", "pause", "payments", "policies", "privacy", "reports", "rules", "services", "team",
	"time_off", "versions", "why", "words"}

// codesOf has words that are the same in all languages.
var codesOf = map[string]string{"text": "YAML", "keys": "API, token", "webhooks": "HTTP, webhook", "agents": "AI, MCP"}

func (p *Page) searchWords(name string) string {
	if slices.Contains(wordsOf, name) {
		return p.say("search_words_" + name)
	}
	return codesOf[name]
}

// listActions returns all pages and actions that the person may open, in the order of the menu.
func (p *Page) listActions() []target {
	var all []target
	add := func(name, title, group, path string) {
		all = append(all, target{name: title, group: group, words: p.searchWords(name), path: path})
	}
	for _, e := range p.listNew() {
		add("new", p.say("new_"+e.name), p.say("new"), e.path)
	}
	for _, e := range p.sideEntries() {
		add(string(e.place), p.say("place_"+string(e.place)), "", e.path)
	}
	if p.May(access.Serve) {
		add("why", p.say("why"), "", "/why-not")
	}
	if p.May(access.ChangeOffer) {
		for _, s := range catalogue {
			add(s, p.say("offer_"+s), p.say("place_offer"), "/offer/"+s)
		}
	}
	for _, g := range settingsGroups {
		for _, s := range p.permittedSections(g.pages) {
			add(s.name, p.say(s.title), p.say("place_settings"), s.path)
		}
	}
	return append(all, target{name: p.say("account"), words: p.searchWords("account"), path: accountPath})
}

// listObjects returns the pages of the services, events, rentals and members of the business: their forms, if the
// person may change them.
func (p *Page) listObjects() []target {
	if !p.May(access.ChangeOffer) {
		return p.listObjectsOfDesk()
	}
	var all []target
	add := func(section, key, name, words string) {
		all = append(all, target{name: name, group: p.say("offer_" + section), words: p.searchWords(words),
			path: "/offer/" + section + "/" + key})
	}
	for i := range p.Business.Services {
		s := &p.Business.Services[i]
		section := "services"
		if s.IsClass() {
			section = "classes"
		}
		add(section, s.Key, s.Name, "services")
	}
	for i := range p.Business.Events {
		add(SectionEvents, p.Business.Events[i].Key, p.Business.Events[i].Name, "services")
	}
	for i := range p.Business.Rentals {
		add(SectionRentals, p.Business.Rentals[i].Key, p.Business.Rentals[i].Name, "services")
	}
	for i := range p.Business.Staff {
		add("team", p.Business.Staff[i].Key, p.Business.Staff[i].Name, "members")
	}
	return all
}

// listObjectsOfDesk returns the pages of the objects for a person who may not change them: a new booking of a service,
// the guests of an event, and the calendar of a member.
func (p *Page) listObjectsOfDesk() []target {
	var all []target
	add := func(may bool, name, group, path string) {
		if may {
			all = append(all, target{name: name, group: p.say(group), path: path})
		}
	}
	for i := range p.Business.Services {
		s := &p.Business.Services[i]
		add(p.May(access.Serve) && s.Active && !s.IsClass(), s.Name, "place_new", "/bookings/new?service="+s.ID.String())
	}
	for i := range p.Business.Events {
		add(p.May(access.SeeSales) && p.Business.Modules.Events, p.Business.Events[i].Name, "offer_events",
			"/events/"+p.Business.Events[i].ID.String())
	}
	for i := range p.Business.Staff {
		m := &p.Business.Staff[i]
		add(p.May(access.SeeCustomers) && m.Active, m.Name, "place_calendar", "/calendar?staff_id="+m.ID.String())
	}
	return all
}

// findTargets returns the pages that match a query best. A page matches by the number of words of the query that begin
// a word of its name, its group or its other words. A match in the name comes first. Without a query, findTargets returns
// all actions.
func (p *Page) findTargets(query string) []target {
	asked := strings.FieldsFunc(fold(query), isSeparator)
	if len(asked) == 0 {
		return p.listActions()
	}
	type match struct {
		target
		words, inName int
	}
	var found []match
	best := 0
	for _, t := range append(p.listActions(), p.listObjects()...) {
		m := match{target: t, inName: countWords(fold(t.name), asked)}
		m.words = countWords(fold(t.name+" "+t.group+" "+t.words), asked)
		if best = max(best, m.words); m.words > 0 {
			found = append(found, m)
		}
	}
	found = slices.DeleteFunc(found, func(m match) bool { return m.words < best })
	slices.SortStableFunc(found, func(a, b match) int { return b.inName - a.inName })
	targets := make([]target, 0, maxTargets)
	for _, m := range found[:min(len(found), maxTargets)] {
		targets = append(targets, m.target)
	}
	return targets
}

// countWords returns how many of the words `asked` begin a word of the text. In scripts without spaces between words, a
// part of the text counts as well.
func countWords(text string, asked []string) int {
	words := strings.FieldsFunc(text, isSeparator)
	count := 0
	for _, word := range asked {
		begins := func(w string) bool { return strings.HasPrefix(w, word) }
		if slices.ContainsFunc(words, begins) || strings.ContainsFunc(word, hasNoSpaces) && strings.Contains(text, word) {
			count++
		}
	}
	return count
}

func isSeparator(r rune) bool {
	return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.IsMark(r)
}

// hasNoSpaces reports whether a letter belongs to a script that has no spaces between words, or puts parts of words
// together.
func hasNoSpaces(r rune) bool {
	return unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul, unicode.Thai)
}

// fold returns a text in lower case and without accents, so that people find a word however they type it.
func fold(text string) string {
	var folded strings.Builder
	for _, r := range norm.NFKD.String(strings.ToLower(text)) {
		if !unicode.Is(unicode.Mn, r) || hasNoSpaces(r) {
			folded.WriteRune(r)
		}
	}
	return folded.String()
}

// urlOf returns the URL of a page that a search found.
func (p *Page) urlOf(t target) string {
	if t.path == accountPath {
		return accountPath
	}
	return string(p.at(t.path))
}

const accountPath = "/account"
