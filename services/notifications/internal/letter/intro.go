package letter

import (
	"cmp"
	"slices"
	"strings"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/sale/reference"
)

// isReplaceable reports whether the owner's first sentences replace Slotmesh's sentences in letters of the given kind.
// In these kinds, Slotmesh's sentences only repeat the letter's state and headline. In all other kinds, the owner's
// sentences precede Slotmesh's sentences.
func isReplaceable(kind Kind) bool {
	return slices.Contains([]Kind{BookingConfirmed, Reminder, Reservation}, kind)
}

// greets reports whether the owner's first sentences greet the customer by name: the first line contains the name.
func (f *Facts) greets(w *words) bool {
	lines := slices.DeleteFunc(f.Intro.lines(w), func(line string) bool { return line == "" })
	return len(lines) > 0 && strings.Contains(lines[0], placeholderName)
}

const placeholderName = "{customer_name}"

// formatIntro returns the owner's first sentences, a paragraph for each line. If the letter has no value for a
// placeholder in these sentences, formatIntro returns nil.
func (w *words) formatIntro(f *Facts) []string {
	lines := f.Intro.lines(w)
	if len(lines) == 0 {
		return nil
	}
	var pairs []string
	text := strings.Join(lines, "\n")
	for placeholder, value := range w.fillPlaceholders(f) {
		if value == "" && strings.Contains(text, placeholder) {
			return nil
		}
		pairs = append(pairs, placeholder, value)
	}
	replacer := strings.NewReplacer(pairs...)
	var paragraphs []string
	for _, text := range lines {
		if text != "" {
			paragraphs = append(paragraphs, replacer.Replace(text))
		}
	}
	return paragraphs
}

// fillPlaceholders returns the values of the placeholders in [Facts.Intro], by placeholder. Each value is cleaned,
// because people typed most of them.
func (w *words) fillPlaceholders(f *Facts) map[string]string {
	start := f.Subject.When.Start.In(f.Business.Zone)
	var items []string
	for _, item := range f.Subject.Items {
		items = append(items, clean(item, maxName))
	}
	timeOfDay := ""
	if !f.Subject.When.IsAllDay {
		timeOfDay = w.ClockInText(start)
	}
	return map[string]string{
		placeholderName: w.isolate(w.chooseGreetingName(filterName(f.Customer.Name))),
		"{service}":     w.isolate(cut(strings.Join(items, " + "), maxSubject)),
		"{staff}":       w.sanitize(f.Subject.Staff, maxSubject),
		"{date}":        w.Date(start),
		"{time}":        timeOfDay,
		"{business}":    w.sanitize(f.Business.Name, maxName),
		"{location}":    w.formatLocation(f),
		"{price}":       w.formatAmount(f.Subject.Total),
		"{reference}":   w.formatReference(f.Subject.ID),
		"{manage_link}": w.isolateLTR(checkLink(f.Link)),
	}
}

// formatLocation returns the name of the place of the subject, otherwise its address, otherwise the name of the business.
func (w *words) formatLocation(f *Facts) string {
	business := w.sanitize(f.Business.Name, maxName)
	if place := f.findPlace(); place != nil {
		return cmp.Or(w.formatPlaceName(place), w.formatAddress(place), business)
	}
	return business
}

// formatReference returns the short form of the id of the subject, or "" if the subject has no such id.
func (w *words) formatReference(id string) string {
	parsed, err := uuid.Parse(id)
	if err != nil {
		return ""
	}
	return w.isolateLTR(reference.Of(parsed))
}
