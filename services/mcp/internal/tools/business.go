package tools

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/slotmesh/slotmesh/libs/contracts/publicapi"
	"github.com/slotmesh/slotmesh/libs/values/locale"
	"github.com/slotmesh/slotmesh/libs/values/zone"
	"github.com/slotmesh/slotmesh/services/mcp/internal/caller"
)

// business is the answer of get_business_info: the fields of /info in one language, and the local time.
type business struct {
	publicapi.BusinessInfo
	ActionButtons          hiddenFields `json:"action_buttons,omitzero"`
	NameTranslations       hiddenFields `json:"name_translations,omitzero"`
	PolicyTextTranslations hiddenFields `json:"policy_text_translations,omitzero"`
	LocalTime              string       `json:"local_time" jsonschema:"the present time there, RFC 3339"`
	Form                   []question   `json:"form" jsonschema:"questions of the business to customers; book_appointment takes the answers in form_data, under their keys"`
	FormTotal              int          `json:"form_total,omitzero" jsonschema:"only if they are more than are shown here: how many questions there are; the business's own page has them all"`
	SocialLinksTotal       int          `json:"social_links_total,omitzero" jsonschema:"only where they are more than are shown here: how many links there are; the business's own page has them all"`
}

// question is one of the questions of the business to its customers.
type question struct {
	publicapi.Question
	// OptionsTotal is the number of all options, if [question.limit] left out some. Otherwise it is 0.
	OptionsTotal int `json:"options_total,omitzero" jsonschema:"only if they are more than are shown here: how many options there are"`
}

func (b *Toolbox) businessTool() *tool {
	return &tool{
		Tool: mcp.Tool{
			Name:  "get_business_info",
			Title: "Business information",
			Description: "Who the business is: name, place and contact, time zone with its present local time, " +
				"currency, languages, what it offers (services, events, rentals), how customers pay, what cancelling " +
				"costs, and whether online bookings are paused. Call it first: \"today\" and \"tomorrow\" mean the " +
				"local_time given here.",
			InputSchema:  inputSchema(localeProperty()),
			OutputSchema: outputSchema[business](),
			Annotations:  readAnnotations("Business information"),
		},
		scopes: readScopes,
		call: func(ctx context.Context, who caller.Caller, args arguments) (result, error) {
			language, err := args.text("locale")
			if err != nil {
				return result{}, err
			}
			var info business
			if err := b.Catalog.Read(ctx, who.Slug, "info", nil, &info.BusinessInfo); err != nil {
				return result{}, err
			}
			info.resolve(language)
			location, err := zone.Load(info.Timezone)
			if err != nil {
				return result{}, fmt.Errorf("time zone of the business: %w", err)
			}
			info.LocalTime = b.Clock.Now().In(location).Format(time.RFC3339)
			info.limit()
			return result{structured: info, text: info.text()}, nil
		},
	}
}

// resolve replaces the texts of the business and its questions with their translations
// into the language `requested`. If a text has no translation, the text stays unchanged.
func (i *business) resolve(requested string) {
	code, _ := locale.Match(clipText(requested, maxLocale), i.Languages)
	i.Name = cmp.Or(i.BusinessInfo.NameTranslations[code], i.Name)
	i.resolvePlace(code)
	for _, q := range i.BusinessInfo.Form {
		q.Label, q.LabelTranslations = cmp.Or(q.LabelTranslations[code], q.Label), nil
		for n := range q.Options {
			o := &q.Options[n]
			o.Label, o.LabelTranslations = cmp.Or(o.LabelTranslations[code], o.Label), nil
		}
		i.Form = append(i.Form, question{Question: q})
	}
}

// Limits of the lists in /info. An owner can make these lists very long.
const (
	maxLinks = 12_000 // size of all social links, and of place, contact, legal and policy texts, as JSON, in bytes
	maxSteps = 50

	maxForm         = 3_000 // size of all questions as JSON, in bytes
	maxOptions      = 20
	maxQuestionUses = 20 // services, events or rentals for which a question is asked
)

// limit shortens long texts and lists that the owner wrote, so that the answer fits into its limit.
func (i *business) limit() {
	i.Name, i.LogoURL = clipText(i.Name, maxName), clipText(i.LogoURL, maxDescription)
	i.CancellationPolicy = i.CancellationPolicy[:min(len(i.CancellationPolicy), maxSteps)]
	i.SocialLinks, i.SocialLinksTotal = cutLinks(i.SocialLinks, maxLinks-i.limitPlace())
	i.Form, i.FormTotal = cutForm(i.Form)
}

// cutForm returns the questions that fit into the answer, the required ones first. If some
// do not fit, it also returns the number of all questions. Otherwise the second result is 0.
func cutForm(all []question) ([]question, int) {
	slices.SortStableFunc(all, func(a, b question) int {
		switch {
		case a.Required == b.Required:
			return 0
		case a.Required:
			return -1
		}
		return 1
	})
	shown, size := []question{}, 0
	for _, q := range all {
		q.limit()
		text, err := json.Marshal(q)
		if err == nil && size+len(text) <= maxForm {
			shown, size = append(shown, q), size+len(text)
		}
	}
	if len(shown) == len(all) {
		return shown, 0
	}
	return shown, len(all)
}

// limit shortens the texts and lists of a question that the owner wrote, so that the answer fits into its limit.
func (q *question) limit() {
	q.Label = clipText(q.Label, maxName)
	q.Options, q.OptionsTotal = cutList(slices.Clone(q.Options), maxOptions)
	for i := range q.Options {
		q.Options[i].Label = clipText(q.Options[i].Label, maxName)
	}
	for _, ids := range []*[]uuid.UUID{&q.ServiceIDs, &q.EventIDs, &q.RentalIDs} {
		*ids = (*ids)[:min(len(*ids), maxQuestionUses)]
	}
}

// line returns the question as a line of the text of the answer.
func (q *question) line() string {
	var options []string
	for _, o := range q.Options {
		options = append(options, o.Key+" ("+o.Label+")")
	}
	says := fmt.Sprintf("\n  %s: %s (%s)", q.Key, q.Label, q.Type)
	if len(options) > 0 {
		says += ", one of " + strings.Join(options, ", ")
	}
	if q.OptionsTotal > 0 {
		says += fmt.Sprintf(" and %d more", q.OptionsTotal-len(options))
	}
	if len(q.ServiceIDs) > 0 {
		says += ", for the services " + strings.Join(uuid.UUIDs(q.ServiceIDs).Strings(), ", ")
	}
	return says
}

// cutLinks returns the links that fit into the answer. It adds them in the order of the names
// of the networks. It leaves out a link that does not fit, because a shortened link would not
// work. If it leaves out links, it also returns the number of all links. Otherwise the second
// result is 0. The argument `most` is the maximum size of all links as JSON, in bytes.
func cutLinks(all map[string]string, most int) (map[string]string, int) {
	kept, size := make(map[string]string), 0
	for _, network := range slices.Sorted(maps.Keys(all)) {
		link := all[network]
		if more := computeEncodedSize(network) + computeEncodedSize(link) + len(`"":"",`); size+more <= most {
			kept[network], size = link, size+more
		}
	}
	if len(kept) == len(all) {
		return kept, 0
	}
	return kept, len(all)
}

func (i *business) text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s. Local time is %s (%s). Prices are in %s. Languages: %s; without locale %s.",
		i.Name, i.LocalTime, i.Timezone, i.Currency, strings.Join(i.Languages, ", "), i.DefaultLanguage)
	for _, of := range []struct {
		offered          bool
		what, mode, tool string
	}{
		{i.ModulesEnabled.Services, "services", i.PaymentModes.Services, "list_services"},
		{i.ModulesEnabled.Events, "events", i.PaymentModes.Events, "list_events"},
		{i.ModulesEnabled.Rentals, "rentals", i.PaymentModes.Rentals, "list_rentals"},
	} {
		if of.offered {
			fmt.Fprintf(&b, "\nIt offers %s (%s), paid %s.", of.what, of.tool, i.paymentText(of.mode))
		}
	}
	b.WriteString(i.placeText())
	b.WriteString("\n" + i.cancellationText())
	requiredOnline := slices.DeleteFunc(slices.Clone(i.Form), func(q question) bool {
		isElsewhere := len(q.ServiceIDs) == 0 && len(q.EventIDs)+len(q.RentalIDs) > 0 // only about tickets or rentals
		return !q.Required || isElsewhere
	})
	if len(requiredOnline) > 0 {
		b.WriteString("\nAsk the customer these questions, and send the answers as form_data of book_appointment, by " +
			"their keys:")
	}
	for _, q := range requiredOnline {
		b.WriteString(q.line())
	}
	if i.FormTotal > 0 {
		fmt.Fprintf(&b, "\n%d questions are left out here; the business's own page asks them.", i.FormTotal-len(i.Form))
	}
	switch {
	case !i.Open:
		b.WriteString("\nThe business is not open for bookings yet: nothing can be booked, and book_appointment is " +
			"refused.")
	case i.OnlineBookingsPaused:
		b.WriteString("\n" + paused)
	}
	return b.String()
}

// paused is the sentence that states that bookings are paused. An answer
// contains it if the agent could otherwise conclude that it can book.
const paused = "Online bookings are paused: nothing can be booked now, and book_appointment is refused."

// paymentText returns a text that states when customers pay. The argument `mode` is the payment mode of the business.
func (i *business) paymentText(mode string) string {
	switch {
	case mode == "at_door" || !i.HasPaymentProviders:
		return "at the door"
	case mode == "online":
		return "online when it is booked"
	}
	return "online or at the door, as the customer chooses (payment_choice)"
}

// cancellationText returns a sentence that states which part of the payment a cancellation refunds (lifecycle.md §4).
func (i *business) cancellationText() string {
	if len(i.CancellationPolicy) == 0 {
		return "Cancelling: all that was paid online is refunded."
	}
	var steps []string
	if i.CoolingOffHours > 0 {
		steps = append(steps, fmt.Sprintf("100 %% within %d hours after booking", i.CoolingOffHours))
	}
	byHours := slices.SortedFunc(slices.Values(i.CancellationPolicy), func(a, b publicapi.CancellationStep) int {
		return b.HoursBefore - a.HoursBefore
	})
	for _, s := range byHours {
		steps = append(steps, fmt.Sprintf("%d %% until %d hours before the start", s.RefundPercent, s.HoursBefore))
	}
	return "Cancelling: of what was paid online these parts are refunded: " + strings.Join(steps, ", ") +
		", else nothing."
}
