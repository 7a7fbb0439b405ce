package e2e

import (
	"net/http"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/slotmesh/slotmesh/services/allinone"
)

func TestDemoCommandsWork(t *testing.T) {
	t.Parallel()
	w := startPlatform(t, func(c *allinone.Config) { c.WithDemo, c.Now = true, "" })
	if len(w.Demo.Try) != 3 {
		t.Fatalf("got lines %q", w.Demo.Try)
	}
	for i, want := range []int{http.StatusOK, http.StatusOK, http.StatusCreated} {
		if got := w.curl(t, w.Demo.Try[i]); got.status != want {
			t.Errorf("%s answered %d, want %d: %s", w.Demo.Try[i], got.status, want, got.body)
		}
	}
	w.curl(t, w.Demo.Try[2]).checkStatus(t, http.StatusConflict, "slot_unavailable")
}

var quotedText = regexp.MustCompile(`'([^']*)'`)

// curl sends the request of a printed curl command. The URL, the headers and the body are in single quotes.
func (w *platform) curl(t *testing.T, line string) reply {
	t.Helper()
	method, header, body := http.MethodGet, http.Header{}, ""
	parts := quotedText.FindAllStringSubmatchIndex(line, -1)
	url := ""
	for _, p := range parts {
		word := line[p[2]:p[3]]
		switch flag := strings.TrimSpace(line[:p[0]]); {
		case strings.HasSuffix(flag, "-H"):
			name, value, _ := strings.Cut(word, ": ")
			header.Set(name, value)
		case strings.HasSuffix(flag, "-d"):
			method, body = http.MethodPost, word
		default:
			url = word
		}
	}
	return w.do(t, method, url, []byte(body), header)
}

// bookConcurrently sends all orders at the same time and counts the answers by status.
func (w *platform) bookConcurrently(t *testing.T, slug string, orders []order) map[int]int {
	t.Helper()
	var keys []string
	for range len(orders)/100 + 1 {
		keys = append(keys, w.createKey(t, slug, "write")) // each key may book 100 times a minute
	}
	var mu sync.Mutex
	counts := make(map[int]int)
	var wg sync.WaitGroup
	begin := make(chan struct{})
	for i, o := range orders {
		wg.Go(func() {
			<-begin
			a, err := w.tryBook(slug, keys[i%len(keys)], o, nil)
			mu.Lock()
			defer mu.Unlock()
			if err != nil {
				t.Errorf("booking %d: %v", i, err)
				return
			}
			counts[a.status]++
			if a.status != http.StatusCreated && a.status != http.StatusConflict {
				t.Errorf("booking %d answered %d: %s", i, a.status, a.body)
			}
		})
	}
	close(begin)
	wg.Wait()
	return counts
}

// countBookings returns the number of bookings in the owner's list that are not cancelled.
func (w *platform) countBookings(t *testing.T, slug string) int {
	t.Helper()
	var list struct {
		Bookings []struct{ Status string }
	}
	w.callAdmin(t, http.MethodGet, "businesses/"+slug+"/bookings?limit=1000", nil).decode(t, http.StatusOK, &list)
	live := 0
	for _, b := range list.Bookings {
		if b.Status != "cancelled" {
			live++
		}
	}
	return live
}

func TestConcurrentBookingsSellSlotOnce(t *testing.T) {
	t.Parallel()
	w := sharePlatform(t)
	w.publish(t, "slot-one", buildSalon("slot-one", 1))
	w.publish(t, "slot-three", buildSalon("slot-three", 3))
	cut := map[string]string{"slot-one": w.idsByName(t, "slot-one", "services")["Cut"],
		"slot-three": w.idsByName(t, "slot-three", "services")["Cut"]}
	for slug, want := range map[string]int{"slot-one": 1, "slot-three": 3} {
		orders := make([]order, 200)
		for i := range orders {
			orders[i] = newOrder(cut[slug], "2027-03-01", "10:00")
		}
		counts := w.bookConcurrently(t, slug, orders)
		if counts[http.StatusCreated] != want || counts[http.StatusConflict] != 200-want {
			t.Errorf("%s: got %v, want %d created and the rest refused", slug, counts, want)
		}
		if live := w.countBookings(t, slug); live != want {
			t.Errorf("%s: %d bookings in the owner's list, want %d", slug, live, want)
		}
	}
}

func TestConcurrentBookingsFillCapacityUnits(t *testing.T) {
	t.Parallel()
	w := sharePlatform(t)
	w.publish(t, "spa", buildSalon("spa", 1))
	sauna := w.idsByName(t, "spa", "services")["Sauna"]
	orders := make([]order, 40)
	for i := range orders {
		orders[i] = newOrder(sauna, "2027-03-01", "10:00")
	}
	if counts := w.bookConcurrently(t, "spa", orders); counts[http.StatusCreated] != 2 {
		t.Errorf("got %v, want 2 created", counts)
	}
}

func TestConcurrentBookingsRejectOverlap(t *testing.T) {
	t.Parallel()
	w := sharePlatform(t)
	w.publish(t, "overlap", buildSalon("overlap", 1))
	cut := w.idsByName(t, "overlap", "services")["Cut"]
	var orders []order
	for range 20 {
		for _, at := range []string{"10:00", "10:15", "10:30"} { // 45 minutes each
			orders = append(orders, newOrder(cut, "2027-03-02", at))
		}
	}
	// Each booking takes 45 minutes, so that any two of the three starts overlap.
	if counts := w.bookConcurrently(t, "overlap", orders); counts[http.StatusCreated] != 1 {
		t.Errorf("got %v, want 1 created", counts)
	}
}

func TestBookAnswersWithSoldServices(t *testing.T) {
	t.Parallel()
	w := sharePlatform(t)
	w.publish(t, "shop", buildSalon("shop", 2))
	services, key := w.idsByName(t, "shop", "services"), w.createKey(t, "shop", "all")
	listed := w.listSlots(t, "shop", "2027-03-02", "service_id="+services["Wash"]+","+services["Cut"]).Slots
	if len(listed) == 0 || listed[0].Time != "09:00" || listed[0].EndTime != "10:15" {
		t.Errorf("both together are listed as %+v", listed)
	}
	o := newOrder(services["Cut"], "2027-03-02", "10:00").withField("service_ids",
		[]string{services["Wash"], services["Cut"]})
	var got struct {
		Success         bool
		PaymentRequired *bool
		Booking         struct {
			ID, Date, Status, Source, Currency string
			StartTime                          string `json:"start_time"`
			EndTime                            string `json:"end_time"`
			Total                              float64
			Services                           []struct {
				Name            string
				DurationMinutes int `json:"duration_minutes"`
				Price           float64
			}
		}
	}
	w.book(t, "shop", key, o).decode(t, http.StatusCreated, &got)
	b := got.Booking
	if !got.Success || b.Date != "2027-03-02" || b.StartTime != "10:00:00" || b.EndTime != "11:15:00" ||
		b.Status != "pending" || b.Source != "api" {
		t.Errorf("got %+v", got)
	}
	// On Tuesdays the prices are 10 % lower: 10 → 9, 40 → 36.
	if len(b.Services) != 2 || b.Services[0].Name != "Wash" || b.Services[0].Price != 9 || b.Services[1].Price != 36 ||
		b.Total != 45 || b.Currency != "EUR" {
		t.Errorf("got services %+v, total %v %s", b.Services, b.Total, b.Currency)
	}
	if got.PaymentRequired == nil || *got.PaymentRequired {
		t.Error("paymentRequired must be there and false: the business has no provider")
	}
}

func TestCancelFreesSlot(t *testing.T) {
	t.Parallel()
	w := sharePlatform(t)
	w.publish(t, "freed", buildSalon("freed", 1))
	cut, key := w.idsByName(t, "freed", "services")["Cut"], w.createKey(t, "freed", "write")
	o := newOrder(cut, "2027-03-01", "10:00")
	var got struct{ Booking struct{ ID string } }
	w.book(t, "freed", key, o).decode(t, http.StatusCreated, &got)
	w.book(t, "freed", key, o).checkStatus(t, http.StatusConflict, "no_staff_available")
	move := "businesses/freed/bookings/" + got.Booking.ID
	w.callAdmin(t, http.MethodPost, move+"/cancel", nil).checkStatus(t, http.StatusOK, "")
	w.callAdmin(t, http.MethodPost, move+"/confirm", nil).checkStatus(t, http.StatusConflict, "conflict")
	w.book(t, "freed", key, o).checkStatus(t, http.StatusCreated, "")
}

func TestBookIsIdempotent(t *testing.T) {
	t.Parallel()
	w := sharePlatform(t)
	w.publish(t, "idempotent", buildSalon("idempotent", 3))
	cut, key := w.idsByName(t, "idempotent", "services")["Cut"], w.createKey(t, "idempotent", "write")
	o := newOrder(cut, "2027-03-01", "10:00")
	header := http.Header{"Idempotency-Key": {"order-1"}}
	send := func(o order) reply {
		a, err := w.tryBook("idempotent", key, o, header)
		if err != nil {
			t.Fatal(err)
		}
		return a
	}
	first := send(o)
	first.checkStatus(t, http.StatusCreated, "")
	second := send(o)
	second.checkStatus(t, http.StatusCreated, "")
	if string(first.body) != string(second.body) {
		t.Errorf("the answers to the same request differ: %s and %s", first.body, second.body)
	}
	send(o.withField("time", "11:00")).checkStatus(t, http.StatusUnprocessableEntity, "idempotency_mismatch")
	if live := w.countBookings(t, "idempotent"); live != 1 {
		t.Errorf("%d bookings, want 1", live)
	}
}

func TestBookChecksKeyScopeAndBusiness(t *testing.T) {
	t.Parallel()
	w := sharePlatform(t)
	w.publish(t, "mine", buildSalon("mine", 1))
	w.publish(t, "yours", buildSalon("yours", 1))
	cut := w.idsByName(t, "mine", "services")["Cut"]
	o := newOrder(cut, "2027-03-01", "10:00")
	valid := w.createKey(t, "mine", "write")

	w.book(t, "mine", w.createKey(t, "mine", "read"), o).checkStatus(t, http.StatusForbidden, "scope_forbidden")
	w.book(t, "mine", w.createKey(t, "yours", "write"), o).checkStatus(t, http.StatusUnauthorized, "invalid_api_key")
	w.book(t, "nobody", valid, o).checkStatus(t, http.StatusNotFound, "business_not_found")
	w.book(t, "mine", "sm_"+strings.Repeat("0", 64), o).checkStatus(t, http.StatusUnauthorized, "invalid_api_key")
	missing, err := w.tryBook("mine", "", o, http.Header{"Authorization": {""}})
	if err != nil {
		t.Fatal(err)
	}
	missing.checkStatus(t, http.StatusUnauthorized, "missing_api_key")

	w.book(t, "mine", valid, o).checkStatus(t, http.StatusCreated, "")
	w.revokeAll(t, "mine")
	w.book(t, "mine", valid, o).checkStatus(t, http.StatusUnauthorized, "invalid_api_key")
}

func (w *platform) revokeAll(t *testing.T, slug string) {
	t.Helper()
	var list struct{ Keys []struct{ ID string } }
	w.callAdmin(t, http.MethodGet, "businesses/"+slug+"/keys", nil).decode(t, http.StatusOK, &list)
	for _, k := range list.Keys {
		w.callAdmin(t, http.MethodDelete, "businesses/"+slug+"/keys/"+k.ID, nil).checkStatus(t, http.StatusNoContent,
			"")
	}
}

func TestBookRejectsClosedAccounts(t *testing.T) {
	t.Parallel()
	w := sharePlatform(t)
	for code, lines := range map[string]string{
		"subscription_inactive":  "account: {subscription: inactive}\n",
		"account_closing":        "account: {removal_on: 2027-06-01}\n",
		"not_accepting_bookings": "",
	} {
		slug := strings.ReplaceAll(code, "_", "-")
		manifest := buildSalon(slug, 1) + lines
		if code == "not_accepting_bookings" {
			manifest = strings.Replace(manifest, "bookings: {", "bookings: {paused_until: 2027-03-02, ", 1)
		}
		w.publish(t, slug, manifest)
		cut := w.idsByName(t, slug, "services")["Cut"]
		w.book(t, slug, w.createKey(t, slug, "write"), newOrder(cut, "2027-03-02", "10:00")).checkStatus(t,
			http.StatusForbidden,
			code)
		paused := w.get(t, slug+"/info").decodeObject(t)["online_bookings_paused"]
		if paused != (code == "not_accepting_bookings") {
			t.Errorf("%s: online_bookings_paused is %v", slug, paused)
		}
		if live := w.countBookings(t, slug); live != 0 {
			t.Errorf("%s: %d bookings were written", slug, live)
		}
	}
}
