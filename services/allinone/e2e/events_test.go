package e2e

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
)

// buildTheatre returns the manifest of a business with events. The three tiers of the first event share its seats.
func buildTheatre(slug string, seats, stalls, circle, box int) string {
	return fmt.Sprintf(`apiVersion: slotmesh/v1
kind: Business
slug: %s
name: Theatre
currency: EUR
timezone: Europe/Lisbon
default_language: en
languages: [en, pt, ar, ja]
modules: {services: true, events: true, rentals: true}
events:
  - key: gala
    name: Gala
    description_html: "<p>Dinner &amp; music.</p>"
    date: 2027-04-03
    start_time: "20:00"
    end_time: "00:30"
    total_capacity: %d
    payment_requirement: full
    tiers:
      - {key: stalls, name: Stalls, price: 60.00, capacity: %d, translations: {pt: {name: Plateia}, ja: {name: 一階席}}}
      - {key: circle, name: Circle, price: 100.00, capacity: %d}
      - {key: box, name: Box, capacity: %d}
    translations:
      pt: {name: Gala de primavera, description_html: "<p>Jantar<br>e música.</p>"}
      ar: {name: حفل الربيع, description_html: "<p>عشاء <b>وموسيقى</b>.</p>"}
      ja: {name: 春の祝宴, description_html: "<p>夕食と　音楽</p>"}
  - {key: matinee, name: Matinee, date: 2027-04-05, start_time: "15:00", end_time: "17:00", total_capacity: 5, tiers: [{key: seat, name: Seat, price: 10.00, capacity: 5}]}
  - {key: past, name: Past, date: 2027-02-28, start_time: "20:00", end_time: "22:00", total_capacity: 5, tiers: [{key: seat, name: Seat, capacity: 5}]}
  - {key: private, name: Private, public: false, date: 2027-04-04, start_time: "15:00", end_time: "17:00", total_capacity: 5, tiers: []}
pricing_rules:
  - {key: evening, kind: time_of_day, from: "18:00", to: "22:00", amount: 5.00, applies_to: {events: all}}
  - {key: saturday, kind: day_of_week, days: [sat], percent: 10, applies_to: {events: all}, priority: -1}
  - {key: early, kind: early_bird, min_days_before: 34, percent: -50, applies_to: {events: all}, priority: 1}
`, slug, seats, stalls, circle, box)
}

// listEvents is a response of /events.
type events struct {
	Events []struct {
		ID, Name, Description, Date string
		StartTime                   string `json:"start_time"`
		EndTime                     string `json:"end_time"`
		SpotsRemaining              *int   `json:"spots_remaining"`
		Inventory                   []struct {
			ID, Name       string
			QuotedPrice    *float64 `json:"quoted_price"`
			SpotsRemaining *int     `json:"spots_remaining"`
		}
	}
	Quote struct {
		Date    string
		Applies bool `json:"applies_pricing_rules"`
	}
}

func (w *platform) listEvents(t *testing.T, path string) events {
	t.Helper()
	var list events
	w.get(t, path).decode(t, http.StatusOK, &list)
	return list
}

// listRemainders returns the remaining tickets of the first event and of each of its tiers. The number -1 stands for
// unknown.
func (e events) listRemainders() []int {
	known := func(n *int) int {
		if n == nil {
			return -1
		}
		return *n
	}
	all := []int{known(e.Events[0].SpotsRemaining)}
	for _, tier := range e.Events[0].Inventory {
		all = append(all, known(tier.SpotsRemaining))
	}
	return all
}

func (w *platform) sellTickets(slug, event, tier string, quantity int) (reply, error) {
	body, err := json.Marshal(map[string]any{"event_id": event, "tier_id": tier, "quantity": quantity,
		"customer_name": "Ada Example"})
	if err != nil {
		return reply{}, err
	}
	return w.tryDo(http.MethodPost, w.AdminURL+"/admin/businesses/"+slug+"/tickets", body,
		http.Header{"Authorization": {"Bearer " + w.AdminToken}, "Content-Type": {"application/json"}})
}

// mustSellTickets sells tickets and returns the id of the order.
func (w *platform) mustSellTickets(t *testing.T, slug, event, tier string, quantity int) string {
	t.Helper()
	a, err := w.sellTickets(slug, event, tier, quantity)
	if err != nil {
		t.Fatal(err)
	}
	var sale struct{ ID, Status string }
	a.decode(t, http.StatusCreated, &sale)
	if sale.Status != "sold" {
		t.Errorf("sold as %s", sale.Status)
	}
	return sale.ID
}

func checkRemainders(t *testing.T, when string, got events, want ...int) {
	t.Helper()
	if fmt.Sprint(got.listRemainders()) != fmt.Sprint(want) {
		t.Errorf("%s: left are %v, want %v", when, got.listRemainders(), want)
	}
}

func TestEventsCountRemainingTickets(t *testing.T) {
	t.Parallel()
	w := sharePlatform(t) // today is 2027-03-01
	w.publish(t, "stage", buildTheatre("stage", 10, 8, 4, 3))
	list := w.listEvents(t, "stage/events")
	if len(list.Events) != 2 || list.Events[0].Name != "Gala" || list.Events[1].Name != "Matinee" ||
		list.Events[0].StartTime != "20:00:00" || list.Events[0].EndTime != "00:30:00" ||
		list.Quote.Date != "2027-03-01" || !list.Quote.Applies {
		t.Errorf("events: %+v", list)
	}
	checkRemainders(t, "before", list, 10, 8, 4, 3)
	gala, tiers := list.Events[0].ID, list.Events[0].Inventory
	first := w.mustSellTickets(t, "stage", gala, tiers[0].ID, 5)
	w.mustSellTickets(t, "stage", gala, tiers[2].ID, 3)
	checkRemainders(t, "after 5 and 3", w.listEvents(t, "stage/events"), 2, 2, 2, 0)
	for name, order := range map[string]struct{ tier, quantity int }{"the tier": {2, 1}, "the event": {1, 3}} {
		a, err := w.sellTickets("stage", gala, tiers[order.tier].ID, order.quantity)
		if err != nil {
			t.Fatal(err)
		}
		if a.checkStatus(t, http.StatusConflict, "conflict"); !strings.Contains(string(a.body), "Sold out") {
			t.Errorf("%s: %s", name, a.body)
		}
	}
	cancel := "businesses/stage/tickets/" + first + "/cancel"
	w.callAdmin(t, http.MethodPost, cancel, nil).checkStatus(t, http.StatusOK, "")
	w.callAdmin(t, http.MethodPost, cancel, nil).checkStatus(t, http.StatusConflict, "conflict")
	checkRemainders(t, "after cancelling 5", w.listEvents(t, "stage/events"), 7, 7, 4, 0)

	w.publish(t, "stage", buildTheatre("stage", 2, 8, 4, 3)) // fewer seats than sold tickets
	checkRemainders(t, "with fewer seats", w.listEvents(t, "stage/events"), 0, 0, 0, 0)
	w.publish(t, "stage", buildTheatre("stage", 12, 8, 4, 4))
	checkRemainders(t, "with more seats", w.listEvents(t, "stage/events"), 9, 8, 4, 1)
	both := func(stalls, box int) reply {
		return w.callAdmin(t, http.MethodPost, "businesses/stage/tickets", fmt.Appendf(nil,
			`{"event_id": %q, "customer_name": "Ada Example", "tiers": [{"tier_id": %q, "quantity": %d}, {"tier_id": %q, "quantity": %d}]}`, gala, tiers[0].ID, stalls, tiers[2].ID, box))
	}
	both(2, 2).checkStatus(t, http.StatusConflict, "conflict")
	checkRemainders(t, "after an order of which not all is left", w.listEvents(t, "stage/events"), 9, 8, 4, 1)
	both(2, 1).checkStatus(t, http.StatusCreated, "")
	checkRemainders(t, "after an order of two tiers", w.listEvents(t, "stage/events"), 6, 6, 4, 0)
	if all := w.callAdmin(t, http.MethodGet, "businesses/stage/tickets?event_id="+gala,
		nil).decodeObject(t)["tickets"].([]any); len(all) != 3 {
		t.Errorf("orders: %v", all)
	}
}

// TestTicketQuotesUseEventDateAndStart checks the quoted prices of two events. The Gala is on a Saturday evening in 33
// days, the Matinee on a Monday afternoon in 35 days.
func TestTicketQuotesUseEventDateAndStart(t *testing.T) {
	t.Parallel()
	w := startPlatform(t)
	w.publish(t, "quoted", buildTheatre("quoted", 10, 8, 4, 3))
	list := w.listEvents(t, "quoted/events")
	var got []string
	for _, e := range list.Events {
		for _, tier := range e.Inventory {
			price := "null"
			if tier.QuotedPrice != nil {
				price = fmt.Sprint(*tier.QuotedPrice)
			}
			got = append(got, tier.Name+" "+price)
		}
	}
	if want := "[Stalls 71 Circle 115 Box null Seat 5]"; fmt.Sprint(got) != want {
		t.Errorf("quoted %v, want %s", got, want)
	}
	if err := w.StopService("pricing"); err != nil {
		t.Fatal(err)
	}
	// Publish another version, because quoted prices are cached for two seconds.
	w.publish(t, "quoted", buildTheatre("quoted", 11, 8, 4, 3))
	if list := w.listEvents(t, "quoted/events"); list.Quote.Applies || list.Events[0].Inventory[0].QuotedPrice != nil ||
		*list.Events[0].SpotsRemaining != 11 {
		t.Errorf("without pricing: %+v", list)
	}
}

func TestEventsAreTranslated(t *testing.T) {
	t.Parallel()
	w := sharePlatform(t)
	w.publish(t, "tongues", buildTheatre("tongues", 10, 8, 4, 3))
	for locale, want := range map[string]string{
		"pt-BR": "Gala de primavera|Jantar\ne música.|Plateia|Circle",
		"ar":    "حفل الربيع|عشاء وموسيقى.|Stalls|Circle",
		"JA-jp": "春の祝宴|夕食と　音楽|一階席|Circle",
		"fr":    "Gala|Dinner & music.|Stalls|Circle",
		"*":     "Gala|Dinner & music.|Stalls|Circle",
	} {
		a := w.get(t, "tongues/events?locale="+locale)
		var list events
		a.decode(t, http.StatusOK, &list)
		e := list.Events[0]
		if got := strings.Join([]string{e.Name, e.Description, e.Inventory[0].Name, e.Inventory[1].Name},
			"|"); got != want {
			t.Errorf("%s: got %s, want %s", locale, got, want)
		}
		if strings.Contains(string(a.body), "_translations") {
			t.Errorf("%s: translations are left: %s", locale, a.body)
		}
	}
}

func TestEventsWithoutBookingHaveUnknownRemainders(t *testing.T) {
	t.Parallel()
	w := startPlatform(t)
	w.publish(t, "dark", buildTheatre("dark", 10, 8, 4, 3))
	gala := w.listEvents(t, "dark/events").Events[0]
	if err := w.StopService("booking"); err != nil {
		t.Fatal(err)
	}
	list := w.listEvents(t, "dark/events")
	checkRemainders(t, "without booking", list, -1, -1, -1, -1)
	if list.Events[0].Inventory[0].QuotedPrice == nil {
		t.Error("without the counts, the answer also lacks the prices")
	}
	a, err := w.sellTickets("dark", gala.ID, gala.Inventory[0].ID, 1)
	if err != nil {
		t.Fatal(err)
	}
	a.checkStatus(t, http.StatusServiceUnavailable, "service_unavailable")
}

func TestConcurrentOrdersNeverOversellTickets(t *testing.T) {
	t.Parallel()
	w := sharePlatform(t)
	capacities := []int{60, 40, 30, 20} // capacity of the event, then of its tiers
	w.publish(t, "rush", buildTheatre("rush", capacities[0], capacities[1], capacities[2], capacities[3]))
	gala := w.listEvents(t, "rush/events").Events[0]
	type order struct {
		tier, quantity, status int
		err                    error
	}
	orders := make([]order, 200)
	var wg sync.WaitGroup
	for i := range orders {
		wg.Go(func() {
			o := order{tier: i % 3, quantity: 1 + i/3%3}
			var a reply
			a, o.err = w.sellTickets("rush", gala.ID, gala.Inventory[o.tier].ID, o.quantity)
			o.status = a.status
			orders[i] = o
		})
	}
	wg.Wait()
	sold := make([]int, 4)
	for _, o := range orders {
		switch {
		case o.err != nil:
			t.Error(o.err)
		case o.status == http.StatusCreated:
			sold[0] += o.quantity
			sold[o.tier+1] += o.quantity
		case o.status != http.StatusConflict:
			t.Errorf("an order answered %d", o.status)
		}
	}
	for i, n := range sold {
		if n > capacities[i] {
			t.Errorf("oversold: %v of %v", sold, capacities)
		}
	}
	for _, o := range orders {
		if o.status == http.StatusConflict && sold[0]+o.quantity <= capacities[0] && sold[o.tier+1]+
			o.quantity <= capacities[o.tier+1] {
			t.Errorf("%d of tier %d were refused and would fit: sold %v of %v", o.quantity, o.tier, sold, capacities)
		}
	}
	eventLeft := capacities[0] - sold[0]
	checkRemainders(t, "in the end", w.listEvents(t, "rush/events"), eventLeft,
		min(eventLeft, capacities[1]-sold[1]), min(eventLeft, capacities[2]-sold[2]),
		min(eventLeft, capacities[3]-sold[3]))
}

func TestCommandSellsTickets(t *testing.T) {
	t.Parallel()
	w := sharePlatform(t)
	w.publish(t, "counter", buildTheatre("counter", 10, 8, 4, 3))
	o := w.newOperatorCommand(t)
	gala := w.listEvents(t, "counter/events").Events[0]
	sell := []string{"tickets", "sell", "counter", "--event", gala.ID, "--tier", gala.Inventory[0].ID, "--customer",
		"Ada Example"}
	sale := o.mustRun(t, "", append(sell, "--quantity", "8")...)
	o.mustFail(t, "Sold out", "", sell...)
	if cancelled := o.mustRun(t, "", "tickets", "cancel", "counter",
		sale["id"].(string)); cancelled["status"] != "cancelled" {
		t.Errorf("cancelled: %v", cancelled)
	}
	o.mustRun(t, "", sell...)
	if all := o.mustRun(t, "", "tickets", "list", "counter", "--event", gala.ID)["tickets"].([]any); len(all) != 2 {
		t.Errorf("orders: %v", all)
	}
}
