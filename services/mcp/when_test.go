package mcp_test

import (
	"encoding/json"
	"strings"
	"testing"
)

// emptyExplanation is an answer of availability without free slots.
const emptyExplanation = `{"slots":[],"computed":true,"timezone":"Europe/Lisbon"}`

func TestFindSlotsFiltersByTimeOfDay(t *testing.T) {
	t.Parallel()
	n := newPeers()
	n.answers[slotsPath] = json.RawMessage(day)
	address := startServer(t, n)
	for _, c := range []struct{ from, to, wants string }{
		{"", "", "09:00 09:00 23:30 00:30"},
		{"09:00", "", "09:00 09:00 23:30 00:30"},
		{"09:01", "", "23:30 00:30"},
		{"", "09:00", "09:00 09:00"},
		{"22:00", "23:30", "23:30"},
		{"22:00", "00:30", "23:30 00:30"},
		{"10:00", "12:00", ""},
	} {
		arguments := map[string]any{"service_ids": []string{cutID}, "date": "2027-03-01", "from_time": c.from,
			"to_time": c.to}
		got := call(t, address, "read", "find_slots", arguments)
		var times []string
		for _, s := range got.StructuredContent["slots"].([]any) {
			times = append(times, s.(map[string]any)["time"].(string))
		}
		if strings.Join(times, " ") != c.wants || got.StructuredContent["total"] != float64(len(times)) {
			t.Errorf("from %q to %q: %v", c.from, c.to, got.StructuredContent)
		}
	}
	text := call(t, address, "read", "find_slots", map[string]any{
		"service_ids": []string{cutID}, "date": "2027-03-01", "from_time": "10:00", "to_time": "12:00"}).Content[0].Text
	wantLines(t, text,
		"0 free starts on Mon 2027-03-01 from 10:00 to 12:00 (Europe/Lisbon); at other times of that date 4 are free.")
}

func TestFindSlotsRefusesInvalidTimes(t *testing.T) {
	t.Parallel()
	address := startServer(t, newPeers())
	for wants, arguments := range map[string]map[string]any{
		"from_time: ": {"service_ids": []string{cutID}, "date": "2027-03-01", "from_time": "9"},
		"to_time: ":   {"service_ids": []string{cutID}, "date": "2027-03-01", "to_time": "25:00"},
		"they go with date": {
			"service_ids": []string{cutID}, "start_date": "2027-03-01", "end_date": "2027-03-02", "from_time": "09:00"},
	} {
		got := call(t, address, "read", "find_slots", arguments)
		if !got.IsError || !strings.Contains(got.Content[0].Text, wants) {
			t.Errorf("%v: %s", arguments, got.Content[0].Text)
		}
	}
}

func TestFindSlotsExplainsADateWithoutFreeStarts(t *testing.T) {
	t.Parallel()
	const free = ` The next date with a free start is Wed 2027-03-03 (5 free).`
	const noneAfter = " No date of the 62 days from Thu 2028-03-02 on has a free start."
	for _, c := range []struct{ rule, date, days, window, text, next, reason string }{
		{"past", "2027-02-26", `{"2027-03-01":0,"2027-03-03":5}`, "start=2027-03-01",
			"Fri 2027-02-26 (Europe/Lisbon). That date is over, or its last start is." + free, "2027-03-03", "past"},
		{"booking", "2027-03-02", `{"2027-03-02":0,"2027-03-03":5}`, "start=2027-03-02",
			"Tue 2027-03-02 (Europe/Lisbon). That date is sold out." + free, "2027-03-03", "sold_out"},
		{"closed", "2027-03-02", `{"2027-03-02":0,"2027-03-03":5}`, "start=2027-03-02",
			"Tue 2027-03-02 (Europe/Lisbon). The business is closed then, or nobody who performs the services works long enough." + free, "2027-03-03", "closed"},
		{"advance_limit", "2028-03-02", `{}`, "start=2028-03-02",
			"Thu 2028-03-02 (Europe/Lisbon). The business does not take bookings that far ahead yet." + noneAfter, "",
			"beyond_advance_limit"},
		{"", "2027-03-02", `{"2027-03-03":5}`, "start=2027-03-02", "Tue 2027-03-02 (Europe/Lisbon)." + free,
			"2027-03-03", ""},
	} {
		n := newPeers()
		n.answers[slotsPath] = json.RawMessage(emptyExplanation)
		n.answers[public+"available-dates"] = json.RawMessage(`{"days":` + c.days +
			`,"computed":true,"timezone":"Europe/Lisbon"}`)
		if c.rule != "" {
			n.answers[public+"no-starts"] = json.RawMessage(`{"rules":{"` + c.date + `":"` + c.rule + `"}}`)
		}
		got := call(t, startServer(t, n), "read", "find_slots", map[string]any{"service_ids": []string{cutID},
			"date": c.date})
		if got.Content[0].Text != "0 free starts on "+c.text {
			t.Errorf("%s: got %q", c.rule, got.Content[0].Text)
		}
		next, _ := got.StructuredContent["next_date"].(string)
		if reason, _ := got.StructuredContent["reason"].(string); next != c.next || reason != c.reason {
			t.Errorf("%s: next_date %q, reason %q", c.rule, next, reason)
		}
		if asked := n.queriesOf(public+"available-dates", ""); !strings.Contains(asked, c.window) {
			t.Errorf("%s: asked %s", c.rule, asked)
		}
	}
	n := newPeers()
	n.answers[slotsPath] = json.RawMessage(emptyExplanation)
	n.answers[public+"available-dates"] = json.RawMessage(`{"days":{},"computed":false,"timezone":"Europe/Lisbon"}`)
	wantLines(t, callText(t, n, "find_slots", dayArguments), "0 free starts on Mon 2027-03-01 (Europe/Lisbon).")
}

func TestFindSlotsExplainsAWindowWithoutFreeStarts(t *testing.T) {
	t.Parallel()
	const head = "0 free starts from Mon 2027-03-01 to Tue 2027-03-02 (Europe/Lisbon)."
	const none = " No date of the 62 days from Tue 2027-03-02 on has a free start."
	for _, c := range []struct{ rules, text, reason string }{
		{`{"2027-03-01":"closed","2027-03-02":"booking"}`, " Of its 2 dates are 1 sold out, 1 closed." + none, ""},
		{`{"2027-03-01":"closed","2027-03-02":"closed"}`, " Of its 2 dates are 2 closed." + none, "closed"},
	} {
		n := newPeers()
		n.answers[public+
			"available-dates"] = json.RawMessage(`{"days":{"2027-03-01":0,"2027-03-02":0},"computed":true,"timezone":"Europe/Lisbon"}`)
		n.answers[public+"no-starts"] = json.RawMessage(`{"rules":` + c.rules + `}`)
		got := call(t, startServer(t, n), "read", "find_slots", map[string]any{"service_ids": []string{cutID},
			"start_date": "2027-03-01", "end_date": "2027-03-02"})
		if reason, _ := got.StructuredContent["reason"].(string); got.Content[0].Text != head+c.text ||
			reason != c.reason {
			t.Errorf("got %q, reason %q", got.Content[0].Text, reason)
		}
	}
}

func TestFindSlotsNamesFirstStartOfWindow(t *testing.T) {
	t.Parallel()
	wantLines(t, callText(t, newPeers(), "find_slots", map[string]any{"service_ids": []string{cutID},
		"start_date": "2027-03-01", "end_date": "2027-03-02"}),
		"2 free starts from Mon 2027-03-01 to Tue 2027-03-02 (Europe/Lisbon). The first is Mon 2027-03-01 09:00–09:45 with Anna (staff_id "+annaID+
			"). Next: find_slots with one of these dates as date.",
		"Mon 2027-03-01: 2")
}

func TestListsShowDescriptionsWhileTheyFit(t *testing.T) {
	t.Parallel()
	n := newPeers()
	if lines := strings.Split(callText(t, n, "list_services", map[string]any{}), "\n"); lines[2] != "  Wash." {
		t.Errorf("one service: %q", lines)
	}
	members := func(count int, description string) json.RawMessage {
		one := `{"id":"` + annaID + `","name":"Anna","description":"` + description + `","category":"","image_url":""}`
		return json.RawMessage(`{"staff":[` + strings.TrimSuffix(strings.Repeat(one+",", count), ",") + `]}`)
	}
	n.answers[public+"staff"] = members(2, `A stylist who\n knows `+strings.Repeat("colour ", 60))
	lines := strings.Split(callText(t, n, "list_staff", map[string]any{}), "\n")
	if len(lines) != 5 || !strings.HasPrefix(lines[2], "  A stylist who knows colour") || len(lines[2]) > 170 {
		t.Errorf("two members: %q", lines)
	}
	n.answers[public+"staff"] = members(60, "She knows colour.")
	if text := callText(t, n, "list_staff", map[string]any{}); strings.Contains(text, "colour") || strings.Count(text,
		"\nAnna") != 60 {
		t.Errorf("60 members: %s", text)
	}
}
