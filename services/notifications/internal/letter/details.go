package letter

import "strings"

// addDetails adds the rows for items, times, places, people and prices. The argument `show` selects the optional rows.
func (p *page) addDetails(kind Kind, w *words, f *Facts, show parts) {
	s := &f.Subject
	if show.customer {
		p.addCustomer(w, f)
	}
	p.addRow(w.Say("cancel_reason"), w.sanitizeLines(f.Reason)...)
	p.addTimes(kind, w, f, show)
	p.addPlace(kind, w, f)
	if f.FormerPlace != "" {
		p.addRow(w.Say("before"), w.sanitize(f.FormerPlace, maxName))
		p.Rows[len(p.Rows)-1].IsOld = true
	}
	var items []string
	for _, item := range s.Items {
		items = append(items, w.sanitize(item, maxName))
	}
	p.addRow(w.Say("label_"+string(s.Kind)), items...)
	p.addRow(w.Say("with"), w.sanitize(s.Staff, maxName))
	if f.FormerStaff != "" {
		p.addRow(w.Say("before"), w.sanitize(f.FormerStaff, maxName))
		p.Rows[len(p.Rows)-1].IsOld = true
	}
	if count := w.formatQuantity(s); count != "" {
		p.addRow(w.Say("count_"+string(s.Kind)), count)
	}
	if show.customer {
		p.addAnswers(w, f.Answers)
	}
	p.addAmounts(w, f, show)
	if show.total && !show.customer {
		p.addPolicy(w, f)
	}
}

// addTimes adds the time of the subject, with a link to the calendar entry. After a reschedule, it also adds the former
// time.
func (p *page) addTimes(kind Kind, w *words, f *Facts, show parts) {
	label, when := "when", f.Subject.When
	if show.due {
		label, when = "return_by", when.end()
	}
	var lines []line
	for _, text := range w.formatTime(when, f.Business.Zone) {
		lines = append(lines, line{Text: text})
	}
	if address := checkLink(f.CalendarLink); address != "" && hasCalendarEntry(kind) {
		lines = append(lines, newLink(w.Say("add_to_calendar"), address))
	}
	p.addLines(w.Say(label), lines...)
	p.Rows[len(p.Rows)-1].IsStrong = true
	if f.FormerTime != nil {
		p.addRow(w.Say("before"), w.formatTime(*f.FormerTime, f.Business.Zone)...)
		p.Rows[len(p.Rows)-1].IsOld = true
	}
}

// addCustomer adds the customer's name, e-mail address and telephone number. The address and the number are links, so
// that the owner can answer from the message.
func (p *page) addCustomer(w *words, f *Facts) {
	p.addRow(w.Say("customer"), w.sanitize(f.Customer.Name, maxName))
	p.addLines(w.Say("email"), w.newMailLine(f.Customer.Email))
	p.addLines(w.Say("phone"), w.newPhoneLine(f.Customer.Phone))
}

func (p *page) addAnswers(w *words, list []Answer) {
	for _, a := range list {
		lines := w.sanitizeLines(a.Text)
		if a.Text == "" {
			lines = []string{w.Say(map[bool]string{true: "yes", false: "no"}[a.IsYes])}
		}
		p.addRow(w.sanitize(w.translate(a.Label.Text, a.Label.Translations), maxName), lines...)
	}
}

func (p *page) addAmounts(w *words, f *Facts, show parts) {
	if show.total {
		p.addTotal(w, f)
		p.addRow(w.Say("paid"), w.formatAmount(f.Subject.Paid))
		p.addRow(w.Say("rest"), w.formatAmount(f.Subject.Rest))
	}
	if show.payment {
		p.addRow(w.Say("due"), w.formatAmount(f.Payment.Amount))
		if !f.Payment.Due.IsZero() {
			p.addRow(w.Say("pay_by"), w.formatTime(When{Start: f.Payment.Due}, f.Business.Zone)...)
		}
	}
	if show.refund && f.Refund != nil && !f.Refund.isZero() {
		p.addRow(w.Say("refund"), w.formatAmount(*f.Refund))
	}
}

// addTotal adds a row with the total, the prices per person and the labels of the pricing rules that changed a price.
func (p *page) addTotal(w *words, f *Facts) {
	lines := []string{w.formatAmount(f.Subject.Total)}
	if lines[0] == "" {
		return
	}
	for _, u := range f.Subject.Units {
		lines = append(lines, w.Number(u.Quantity)+" × "+w.formatAmount(u.Price))
	}
	for _, label := range f.Subject.Changes {
		lines = append(lines, w.sanitize(label, maxName))
	}
	p.addRow(w.Say("total"), lines...)
}

// addPolicy adds a row with the cancellation policy: until which dates the customer gets a refund and can cancel
// online. It also adds the owner's rules in plain text.
func (p *page) addPolicy(w *words, f *Facts) {
	var sentences []string
	isDeadlineNamed := f.Subject.Deadline.IsZero()
	for _, step := range f.Subject.Policy {
		until := w.formatMoment(When{Start: step.Until}, f)
		isDeadlineNamed = isDeadlineNamed || step.Until.Equal(f.Subject.Deadline)
		if step.Percent == 100 {
			sentences = append(sentences, w.With("policy_free_until", "When", until))
			continue
		}
		sentences = append(sentences,
			w.Fill("policy_refund_until", map[string]string{"When": until, "Percent": w.Number(step.Percent)}))
	}
	if n := len(f.Subject.Policy); n > 0 && f.Subject.Policy[n-1].Until.Before(f.Subject.When.Start) {
		sentences = append(sentences, w.Say("policy_none"))
	}
	if !isDeadlineNamed {
		sentences = append(sentences,
			w.With("policy_cancel_until", "When", w.formatMoment(When{Start: f.Subject.Deadline}, f)))
	}
	separator := " "
	if w.Code == "ja" || w.Code == "zh" {
		separator = ""
	}
	lines := []string{strings.Join(sentences, separator)}
	if f.Business.Policy.Text != "" {
		lines = append(lines, f.Business.Policy.lines(w)...)
	}
	p.addRow(w.Say("policy"), lines...)
}
