package pages

import (
	"slices"

	"github.com/slotmesh/slotmesh/libs/values/money"
	"github.com/slotmesh/slotmesh/libs/values/zone"
	"github.com/slotmesh/slotmesh/services/console/internal/identity/access"
	"github.com/slotmesh/slotmesh/services/console/internal/offer/document"
	"github.com/slotmesh/slotmesh/services/console/internal/offer/form"
	"github.com/slotmesh/slotmesh/services/console/internal/pages/view"
)

// businessPart is the form for the name, the place, the contact and the region of the business.
var businessPart = offerPart{section: "business", suggest: suggestCountry, write: writeBusiness, groups: func(o *offerPage) []form.Group {
	module := func(list string) form.Field {
		f := form.Field{Name: "modules." + list, Kind: form.Switch, Label: "offer_" + list}
		if len(o.listChoices(list)) > 0 {
			f.Default = "yes"
		}
		return f
	}
	groups := []form.Group{{Fields: append([]form.Field{{Name: "name", Label: "offer_name", Required: true}},
		newPictureFields("logo", "offer_logo", "logo_url")...)}}
	groups = append(groups, placeGroups(o)...)
	return append(groups, []form.Group{
		{Title: "offer_shown", Fields: []form.Field{module("services"), module(view.SectionEvents),
			module(view.SectionRentals)}},
		{Title: "offer_place", Fields: []form.Field{
			{
				Name:      "timezone",
				Label:     "offer_timezone",
				Hint:      "offer_timezone_hint",
				Required:  true,
				Suggested: zone.Names(),
			},
			{
				Name:      "currency",
				Label:     "offer_currency",
				Hint:      "offer_currency_hint",
				Required:  true,
				Suggested: money.Codes(),
			},
		}},
	}...)
}}

// writeBusiness writes the form of the business. It calls [writePlace], and replaces typed names of a time zone and of a
// currency by their codes.
func writeBusiness(fields document.Fields, write func() *form.Result) *form.Result {
	result := writePlace(fields, write)
	normalizeCodes(fields)
	return result
}

// languagesPart is the form for the languages of the booking page and of messages.
var languagesPart = offerPart{section: "languages", write: writeLanguages, groups: func(o *offerPage) []form.Group {
	return []form.Group{{Fields: []form.Field{
		{
			Name:     "default_language",
			Kind:     form.Choice,
			Label:    "offer_default_language",
			Required: true,
			Options:  o.listLanguages(),
		},
		{Name: "languages", Kind: form.Choices, Label: "offer_all_languages", Options: o.listLanguages()},
	}}}
}}

// writeLanguages writes the form of the languages. It adds the default language to the languages if the person has not
// chosen it.
func writeLanguages(fields document.Fields, write func() *form.Result) *form.Result {
	result := write()
	languages, _ := fields["languages"].([]any)
	if own := fields["default_language"]; !slices.Contains(languages, own) {
		fields["languages"] = append([]any{own}, languages...)
	}
	return result
}

// policiesPart is the form for the rules of bookings: which bookings, changes and cancellations customers may make, and
// until when.
var policiesPart = offerPart{section: "policies", groups: func(o *offerPage) []form.Group {
	var change []form.Field
	if len(o.listLocations()) > 0 {
		change = []form.Field{{Name: "bookings.location_change_minutes", Kind: form.Integer, Label: "offer_location_change",
			Hint: "offer_location_change_hint", Unit: "offer_unit_minutes", Default: "0"}}
	}
	return []form.Group{
		{Title: "offer_booking", Fields: append([]form.Field{
			{Name: "bookings.confirm", Kind: form.Choice, Label: "offer_confirm", Default: "manual",
				Options: o.newOptions("offer_confirm_", "manual", "auto")},
			{Name: "bookings.min_notice_minutes", Kind: form.Integer, Label: "offer_notice", Unit: "offer_unit_minutes", Default: "0"},
			{Name: "bookings.advance_days", Kind: form.Integer, Label: "offer_advance", Unit: "offer_unit_days", Default: "365"},
			{Name: "bookings.slot_interval_minutes", Kind: form.Integer, Label: "offer_interval",
				Unit: "offer_unit_minutes", Default: "15"},
			{Name: "bookings.max_open_per_customer", Kind: form.Integer, Label: "offer_max_open", Default: "20"},
		}, change...)},
		{Title: "offer_cancelling", Hint: "offer_cancelling_hint", Fields: []form.Field{
			{Name: "self_service.cancel_until_hours", Kind: form.Deadline, Label: "offer_cancel_until",
				Unit: "offer_unit_hours", Hint: "offer_never_hint", Default: "0"},
			{Name: "self_service.reschedule_until_hours", Kind: form.Deadline, Label: "offer_move_until",
				Unit: "offer_unit_hours", Hint: "offer_never_hint", Default: "0"},
			{Name: "cooling_off_hours", Kind: form.Integer, Label: "offer_cooling_off", Unit: "offer_unit_hours", Default: "0"},
			{Name: "cancellation_policy", Kind: form.Rows, Label: "offer_refund", Hint: "offer_refund_hint",
				Fields: []form.Field{
					{Name: "hours_before", Kind: form.Integer, Label: "offer_hours_before",
						Unit: "offer_unit_hours", Required: true},
					{Name: "refund_percent", Kind: form.Integer, Label: "offer_refund_percent",
						Unit: "offer_unit_percent", Required: true},
				}},
			{Name: "policy_text", Kind: form.Text, Label: "offer_policy_text", Hint: "offer_policy_text_hint"},
		}},
	}
}}

// paymentsPart is the form for the ways in which customers pay.
var paymentsPart = offerPart{section: "payments", groups: func(o *offerPage) []form.Group {
	pays := func(kind string) form.Field {
		return form.Field{
			Name: "payments.modes." + kind, Kind: form.Choice, Label: "offer_" + kind, Default: "at_door",
			Options: o.newOptions("offer_pays_", "at_door", "online", "customer_choice"),
		}
	}
	return []form.Group{{Fields: []form.Field{pays("services"), pays("events"), pays("rentals"),
		{Name: "payments.providers", Kind: form.Checkboxes, Label: "offer_providers",
			Options: []form.Option{{Value: "stripe", Label: "Stripe"}}},
		{Name: "payments.accounts.stripe", Label: "offer_stripe_account"}}}}
}}

// privacyPart is the form for the legal texts, and for the time for which customers' data is stored.
var privacyPart = offerPart{section: "privacy", groups: func(*offerPage) []form.Group {
	return []form.Group{
		{Title: "offer_legal", Hint: "offer_legal_hint", Fields: []form.Field{
			{Name: "legal.imprint", Kind: form.Text, Label: "offer_imprint"},
			{Name: "legal.privacy", Kind: form.Text, Label: "offer_privacy_notice"},
			{Name: "legal.terms", Kind: form.Text, Label: "offer_terms"},
		}},
		{Fields: []form.Field{
			{Name: "privacy.keep_customers_days", Kind: form.Integer, Label: "offer_keep_days", Unit: "offer_unit_days", Default: "730"},
		}},
	}
}}

// bookingPagePart is the form for the appearance of the booking page, and for the questions that this page asks.
var bookingPagePart = offerPart{section: "page", groups: func(o *offerPage) []form.Group {
	return slices.Insert([]form.Group{
		{Fields: []form.Field{
			{Name: "page.accent", Label: "offer_accent", Hint: "offer_accent_hint"},
			{Name: "page.about_html", Kind: form.Prose, Label: "offer_about"},
			{Name: "page.cover", Kind: form.Picture, Label: "offer_cover", Hint: "picture_hint"},
			{Name: "page.gallery", Kind: form.Pictures, Label: "offer_gallery", Hint: "picture_hint"},
			{Name: "page.embed_origins", Kind: form.Lines, Label: "offer_embed", Hint: "offer_embed_hint"},
		}},
		{Title: "offer_form", Hint: "offer_form_hint", Fields: []form.Field{
			{Name: "form", Kind: form.Rows, Label: "offer_question", Key: "question", Fields: []form.Field{
				{Name: "label", Label: "offer_asks", Required: true},
				{Name: "type", Kind: form.Choice, Label: "offer_answer", Options: o.newOptions("offer_answer_", "text",
					"textarea", "number", "select", "checkbox", "date", "phone")},
				{Name: "max_length", Kind: form.Integer, Label: "offer_max_length"},
				{Name: "services", Kind: form.Checkboxes, Label: "offer_asked_for", Hint: "offer_asked_for_hint",
					Options: slices.Clone(o.listChoices("services"))},
				{Name: "events", Kind: form.Checkboxes, Label: "offer_events", Options: o.listChoices("events")},
				{Name: "rentals", Kind: form.Checkboxes, Label: "offer_rentals", Options: o.listChoices("rentals")},
				{Name: "required", Kind: form.Switch, Label: "offer_required"},
				{Name: "consent", Kind: form.Switch, Label: "offer_consent"},
				{Name: "options", Kind: form.Rows, Label: "offer_option", Key: "option", Fields: []form.Field{
					{Name: "label", Label: "offer_option_label", Required: true},
				}},
			}},
			{Name: "form_enforce_api", Kind: form.Switch, Label: "offer_enforce"},
		}},
	}, 1, newLinkGroups()...)
}}

// networks are the social networks that the form suggests.
var networks = []string{"Facebook", "Instagram", "LinkedIn", "TikTok", "Tripadvisor", "X", "YouTube"}

// newLinkGroups returns the fields for the links of the booking page to social networks, and for its buttons.
func newLinkGroups() []form.Group {
	return []form.Group{
		{Fields: []form.Field{
			{Name: "social_links", Kind: form.Rows, Label: "offer_social", IsMap: true, Fields: []form.Field{
				{Name: "name", Label: "offer_network", Required: true, Suggested: networks},
				{Name: "value", Kind: form.Address, Label: "offer_link", Required: true},
			}},
		}},
		{Title: "offer_buttons", Fields: []form.Field{
			{Name: "action_buttons", Kind: form.Rows, Label: "offer_button", New: document.Fields{"type": "link"},
				Fields: []form.Field{
					{Name: "label", Label: "embed_label", Required: true},
					{Name: "content", Kind: form.Address, Label: "offer_link", Hint: "offer_button_hint"},
					{Name: "order", Kind: form.Integer, Label: "offer_order", Default: "0"},
				}},
		}},
	}
}

// notificationsPart is the form for the e-mail addresses that get notices of bookings, and for the customers'
// reminders.
var notificationsPart = offerPart{section: "notifications", title: "settings_notifications", action: access.Integrate,
	groups: func(*offerPage) []form.Group {
		return []form.Group{{Hint: "settings_notifications_text", Fields: []form.Field{
			{Name: "notifications.owner_emails", Kind: form.Lines, Label: "offer_owner_emails",
				Hint: "offer_owner_emails_hint"},
			{Name: "notifications.reply_to", Label: "offer_reply_to"},
			{Name: "notifications.reminders_hours_before", Kind: form.Integers, Label: "offer_reminders",
				Hint: "offer_reminders_hint", Default: "24"},
		}}}
	}}
