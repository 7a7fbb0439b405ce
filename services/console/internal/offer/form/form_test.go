package form_test

import (
	"encoding/json"
	"net/url"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/slotmesh/slotmesh/services/console/internal/offer/document"
	"github.com/slotmesh/slotmesh/services/console/internal/offer/form"
)

var fields = []form.Field{
	{Name: "name", Required: true},
	{Name: "description_html", Kind: form.Prose},
	{Name: "price", Kind: form.Decimal},
	{Name: "active", Kind: form.Switch, Default: "yes"},
	{Name: "staff", Kind: form.Checkboxes},
	{Name: "self_service.cancel_until_hours", Kind: form.Deadline, Default: "0"},
	{Name: "applies_to.services", Kind: form.ObjectPicker},
	{Name: "hours", Kind: form.Week, HasOwnHours: true},
	{Name: "variants", Kind: form.Rows, Key: "variant", Fields: []form.Field{{Name: "name", Required: true},
		{Name: "price", Kind: form.Decimal}}},
	{Name: "overrides", Kind: form.Rows, Fields: []form.Field{{Name: "date", Kind: form.Date, Required: true},
		{Name: "hours", Kind: form.Windows}}},
}

func newObject() document.Fields {
	return document.Fields{
		"key": "cut", "name": "Cut", "description_html": "<p>Wash</p><p>Cut &amp; dry</p>",
		"price": json.Number("40.00"), "active": true,
		"staff": []any{"anna"}, "self_service": document.Fields{"cancel_until_hours": nil},
		"applies_to": document.Fields{"services": "all"},
		"hours":      document.Fields{"mon": []any{"09:00-24:00"}, "tue": []any{}},
		"variants":   []any{document.Fields{"key": "long", "id": "x", "name": "Long", "unknown": "stays"}},
		"overrides":  []any{document.Fields{"date": "2026-12-24", "hours": []any{}}},
		"unknown":    "stays",
	}
}

func TestWriteSkipsUnchangedFields(t *testing.T) {
	t.Parallel()
	got := newObject()
	shown := form.Show(got, fields)
	if wrong := form.Write(got, fields, shown, form.AddBlankRows(shown, fields)).FieldErrors; len(wrong) > 0 {
		t.Error(wrong)
	}
	if diff := cmp.Diff(newObject(), got); diff != "" {
		t.Error(diff)
	}
}

func TestWriteWritesTypedValues(t *testing.T) {
	t.Parallel()
	got := newObject()
	shown := form.Show(got, fields)
	posted := form.AddBlankRows(shown, fields)
	for name, value := range map[string]string{
		"price": "٤٥,50", "active": "", "self_service.cancel_until_hours": "12", "hours.mon.0.to": "18:00",
		"variants.0.price": "5", "variants.1.name": "Größe L",
		"overrides.0.remove": "yes", "description_html": "One\r\nline",
	} {
		posted.Set(name, value)
	}
	posted["staff"] = []string{"anna", "ben"}
	posted["applies_to.services"] = nil
	result := form.Write(got, fields, shown, posted)
	want := newObject()
	want["price"], want["active"], want["staff"], want["description_html"] = json.Number("45.50"), false,
		[]any{"anna", "ben"}, "<p>One<br>line</p>"
	want["self_service"] = document.Fields{"cancel_until_hours": json.Number("12")}
	want["hours"].(document.Fields)["mon"] = []any{"09:00-18:00"}
	want["variants"] = []any{
		document.Fields{"key": "long", "id": "x", "name": "Long", "unknown": "stays", "price": json.Number("5")},
		document.Fields{"key": "grosse-l", "name": "Größe L"},
	}
	delete(want, "overrides")
	delete(want, "applies_to")
	if diff := cmp.Diff(want, got); diff != "" || len(result.FieldErrors) > 0 {
		t.Error(diff, result.FieldErrors)
	}
}

func TestFindInputLocatesProblems(t *testing.T) {
	t.Parallel()
	o := document.Fields{"name": "x", "variants": []any{document.Fields{"key": "a", "name": "A"},
		document.Fields{"key": "b", "name": "B"}}}
	shown := form.Show(o, fields)
	posted := url.Values{"name": {""}, "price": {"much"}, "variants.n": {"3"}, "variants.0.remove": {"yes"},
		"variants.1.name": {"B"}}
	result := form.Write(o, fields, shown, posted)
	if diff := cmp.Diff(map[string]string{"name": form.RequiredValue, "price": form.InvalidAmount},
		result.FieldErrors); diff != "" {
		t.Error(diff)
	}
	for path, want := range map[string]string{"variants[0].price": "variants.1.price", "staff[3]": "staff",
		"hours.mon[0]": "hours.mon", "classes[1].time": ""} {
		if got := result.FindInput(path); got != want {
			t.Errorf("the problem of %s is shown at the input %q, want %q", path, got, want)
		}
	}
}

func TestWriteAsksAboutLongNightWindow(t *testing.T) {
	t.Parallel()
	week := []form.Field{{Name: "hours", Kind: form.Week}}
	for typed, c := range map[[2]string]struct {
		confirmed string
		wrong     string
	}{
		{"13:30", "13:00"}: {"", form.ConfirmOvernight},
		{"13:30", "12:00"}: {"yes", ""},
		{"20:00", "03:00"}: {"", ""},
		{"18:00", "00:00"}: {"", ""},
		{"09:00", "18:00"}: {"", ""},
	} {
		o := document.Fields{}
		shown := form.Show(o, week)
		posted := form.AddBlankRows(shown, week)
		posted.Set("hours.mon.0.from", typed[0])
		posted.Set("hours.mon.0.to", typed[1])
		posted.Set("hours.mon"+form.OvernightCheckbox, c.confirmed)
		if got := form.Write(o, week, shown, posted).FieldErrors["hours.mon"]; got != c.wrong {
			t.Errorf("%v: %q, want %q", typed, got, c.wrong)
		}
	}
}

func TestAddBlankRowsShowsOneWindowPerClosedDay(t *testing.T) {
	t.Parallel()
	week := []form.Field{{Name: "hours", Kind: form.Week}}
	o := document.Fields{"hours": document.Fields{"tue": []any{"09:00-13:00", "14:00-18:00"}}}
	opened := form.AddBlankRows(form.Show(o, week), week)
	for day, want := range map[string]int{"mon": 1, "tue": 2} {
		if got := form.CountRows(opened, "hours."+day); got != want {
			t.Errorf("%s has %d windows to fill in, want %d", day, got, want)
		}
	}
}

func TestHandleButtonAddsBreak(t *testing.T) {
	t.Parallel()
	week := []form.Field{{Name: "hours", Kind: form.Week}}
	o := document.Fields{"hours": document.Fields{"mon": []any{"09:00-18:00"}}}
	shown := form.Show(o, week)
	posted := form.AddBlankRows(shown, week)
	for _, unknown := range []string{"hours.break", "hours.may" + form.BreakButton, form.BreakButton} {
		form.HandleButton(posted, week, unknown)
	}
	form.HandleButton(posted, week, "hours.mon"+form.BreakButton)
	posted.Set("hours.mon.0.to", "13:00")
	posted.Set("hours.mon.1.from", "14:00")
	form.Write(o, week, shown, posted)
	want := document.Fields{"hours": document.Fields{"mon": []any{"09:00-13:00", "14:00-18:00"}}}
	if diff := cmp.Diff(want, o); diff != "" {
		t.Error(diff)
	}
}

// TestWriteFollowsSwitches shows that a day has hours only if its switch is on, and that such a day needs hours.
func TestWriteFollowsSwitches(t *testing.T) {
	t.Parallel()
	week := []form.Field{{Name: "hours", Kind: form.Week}}
	o := document.Fields{"hours": document.Fields{"mon": []any{"09:00-18:00"}, "tue": []any{"09:00-18:00"}}}
	shown := form.Show(o, week)
	posted := form.AddBlankRows(shown, week)
	posted.Set("hours"+form.SwitchesInput, "yes")
	posted.Del("hours.mon" + form.OpenSwitch)
	posted.Set("hours.wed"+form.OpenSwitch, "yes")
	posted.Set("hours.wed.0.from", "10:00")
	posted.Set("hours.wed.0.to", "12:00")
	posted.Set("hours.fri"+form.OpenSwitch, "yes")
	posted.Set("hours.sat.0.from", "10:00")
	posted.Set("hours.sat.0.to", "12:00")
	wrong := form.Write(o, week, shown, posted).FieldErrors
	if diff := cmp.Diff(map[string]string{"hours.fri": form.RequiredValue}, wrong); diff != "" {
		t.Error(diff)
	}
	want := document.Fields{"hours": document.Fields{"tue": []any{"09:00-18:00"}, "wed": []any{"10:00-12:00"}}}
	if diff := cmp.Diff(want, o); diff != "" {
		t.Error(diff)
	}
}

func TestHandleButtonCopiesFirstOpenDay(t *testing.T) {
	t.Parallel()
	week := []form.Field{{Name: "hours", Kind: form.Week}}
	all := []any{"09:00-13:00", "14:00-18:00"}
	for name, c := range map[string]struct{ before, want document.Fields }{
		"the days behind it": {
			document.Fields{"mon": all, "wed": []any{"08:00-12:00"},
				"fri": []any{"06:00-07:00", "08:00-09:00", "10:00-11:00"}},
			document.Fields{"mon": all, "wed": all, "fri": all},
		},
		"Monday is closed": {
			document.Fields{"tue": all, "sat": []any{"10:00-12:00"}},
			document.Fields{"tue": all, "sat": all},
		},
		"one open day": {document.Fields{"sun": all}, document.Fields{"sun": all}},
		"an open day without hours is before it": {
			document.Fields{"tue": all}, document.Fields{"mon": all, "tue": all},
		},
	} {
		o := document.Fields{"hours": c.before}
		shown := form.Show(o, week)
		posted := form.AddBlankRows(shown, week)
		if _, opens := c.want["mon"]; opens {
			posted.Set("hours"+form.SwitchesInput, "yes")
			posted.Set("hours.mon"+form.OpenSwitch, "yes")
		}
		form.HandleButton(posted, week, "hours"+form.SameHoursButton)
		form.Write(o, week, shown, posted)
		if diff := cmp.Diff(document.Fields{"hours": c.want}, o); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

// team is the form field of services with the members who perform them, as the first visit shows it.
var team = []form.Field{{Name: "services", Kind: form.Rows, Key: "service", Fields: []form.Field{
	{Name: "name", Required: true},
	{Name: "staff", Kind: form.Checkboxes, IsTicked: true, Options: []form.Option{{Value: "anna"}, {Value: "ben"}}},
	{Name: "in_service", Kind: form.Switch, Default: "yes"},
}}}

func TestNewRowHasTickedDefaults(t *testing.T) {
	t.Parallel()
	o := document.Fields{}
	shown := form.Show(o, team)
	posted := form.AddBlankRows(shown, team)
	form.HandleButton(posted, team, "services")
	for _, row := range []string{"services.0", "services.1"} {
		if got := posted[row+".staff"]; len(got) != 2 || posted.Get(row+".in_service") != "yes" {
			t.Errorf("%s begins with %v and %v", row, got, posted[row+".in_service"])
		}
	}
	posted.Set("services.0.name", "Massage") // the second row stays empty
	form.Write(o, team, shown, posted)
	want := document.Fields{
		"services": []any{document.Fields{"key": "massage", "name": "Massage", "staff": []any{"anna", "ben"}}},
	}
	if diff := cmp.Diff(want, o); diff != "" {
		t.Error(diff)
	}
}

func TestNewRowKeepsUntickedBoxes(t *testing.T) {
	t.Parallel()
	o := document.Fields{}
	shown := form.Show(o, team)
	posted := url.Values{"services.n": {"1"}, "services.0.name": {"Massage"}}
	form.Write(o, team, shown, posted)
	want := document.Fields{
		"services": []any{document.Fields{"key": "massage", "name": "Massage", "in_service": false}},
	}
	if diff := cmp.Diff(want, o); diff != "" {
		t.Error(diff)
	}
}

func TestHandleButtonIgnoresUnknownNames(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"", "services.0.staff", "other", "services.same", "services.0"} {
		values := url.Values{"services.n": {"1"}}
		form.HandleButton(values, team, name)
		if diff := cmp.Diff(url.Values{"services.n": {"1"}}, values); diff != "" {
			t.Errorf("%q: %s", name, diff)
		}
	}
}

func TestParseAmountReadsNotations(t *testing.T) {
	t.Parallel()
	for input, want := range map[string]string{
		"45": "45", "45.50": "45.50", "45,50": "45.50", "€45": "45", "€ 45,50": "45.50", "45,50 €": "45.50",
		"45 eur": "45", "EUR 45": "45",
		"1.234,50": "1234.50", "1,234.50": "1234.50", "1 234": "", "$45": "", "45 USD": "", "EUR": "", "much": "",
		"45.5.0": "",
	} {
		o := document.Fields{}
		price := []form.Field{{Name: "price", Kind: form.Decimal, Currency: "EUR"}}
		result := form.Write(o, price, form.Show(o, price), url.Values{"price": {input}})
		if got, _ := o["price"].(json.Number); got.String() != want ||
			(want == "") != (result.FieldErrors["price"] == form.InvalidAmount) {
			t.Errorf("%q is read as %q (%v), want %q", input, got, result.FieldErrors, want)
		}
	}
}

func TestWriteKeepsHoursWithoutInputs(t *testing.T) {
	t.Parallel()
	fields := []form.Field{{Name: "hours", Kind: form.Week}, {Name: "name"}}
	want := document.Fields{"name": "B", "hours": document.Fields{"mon": []any{"09:00-17:00"}}}
	o := document.Fields{"name": "A", "hours": document.Fields{"mon": []any{"09:00-17:00"}}}
	form.Write(o, fields, form.Show(o, fields), url.Values{"name": {"B"}})
	if diff := cmp.Diff(want, o); diff != "" {
		t.Error(diff)
	}
}

// TestWriteWritesMapsAndChoices shows that rows with IsMap become an object, that each choice is one value, and that
// ticked values keep the order of the manifest.
func TestWriteWritesMapsAndChoices(t *testing.T) {
	t.Parallel()
	own := []form.Field{
		{Name: "links", Kind: form.Rows, IsMap: true, Fields: []form.Field{{Name: "name"}, {Name: "value"}}},
		{Name: "countries", Kind: form.Choices}, {Name: "staff", Kind: form.Checkboxes},
		{Name: "buttons", Kind: form.Rows, New: document.Fields{"type": "link"}, Fields: []form.Field{{Name: "label"}}},
	}
	got := document.Fields{"links": document.Fields{"x": "a", "y": "b"}, "countries": []any{"PT"},
		"staff": []any{"ben", "anna"}}
	shown := form.Show(got, own)
	posted := form.AddBlankRows(shown, own)
	if wrong := form.Write(got, own, shown, posted).FieldErrors; len(wrong) > 0 || len(got) != 3 {
		t.Errorf("an unchanged form writes %v, %v", got, wrong)
	}
	form.HandleButton(posted, own, "countries")
	if n := len(posted["countries"]); n != 3 {
		t.Errorf("%d inputs for countries, want 3", n)
	}
	posted["countries"], posted["staff"] = []string{"PT", "", "ES"}, []string{"anna", "ben", "cleo"}
	posted.Set("links.0.remove", "yes")
	posted.Set("links.2.name", "z")
	posted.Set("links.2.value", "c")
	posted.Set("buttons.0.label", "Go")
	result := form.Write(got, own, shown, posted)
	want := document.Fields{"links": document.Fields{"y": "b", "z": "c"}, "countries": []any{"PT", "ES"},
		"staff": []any{"ben", "anna", "cleo"}, "buttons": []any{document.Fields{"type": "link", "label": "Go"}}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if input := result.FindInput("links.z"); input != "links.2.value" {
		t.Errorf("the input of links.z is %q", input)
	}
}
