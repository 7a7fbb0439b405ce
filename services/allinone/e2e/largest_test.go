package e2e

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/slotmesh/slotmesh/libs/contracts/manifest"
)

// buildCatalogue returns the manifest of a business with 1,000 services of five variants each. Its 200 pricing rules
// apply to all services.
func buildCatalogue(slug string) string {
	var b strings.Builder
	fmt.Fprintf(&b,
		"apiVersion: slotmesh/v1\nkind: Business\nslug: %s\nname: Catalogue\ncurrency: EUR\ntimezone: Europe/Lisbon\ndefault_language: en\nservices:\n", slug)
	for i := range 1000 {
		fmt.Fprintf(&b, "- {key: s%d, name: Service %d, duration_minutes: 30, price: %d, variants: [", i, i, 10+i)
		for v := range 5 {
			fmt.Fprintf(&b, "{key: v%d, name: Variant %d, price: %d}, ", v, v, 20+i+v)
		}
		b.WriteString("]}\n")
	}
	b.WriteString("pricing_rules:\n")
	for i := range 200 {
		fmt.Fprintf(&b, "- {key: r%d, kind: day_of_week, days: [mon, tue, wed, thu, fri, sat, sun], percent: -0.5}\n",
			i)
	}
	return b.String()
}

// buildCrowdedBusiness returns the manifest of a business that is always open. Each member of its staff performs one
// service, with a start every `interval` minutes. The argument `members` is the size of the staff.
func buildCrowdedBusiness(slug string, members, interval int) string {
	var staff, keys strings.Builder
	for i := range members {
		fmt.Fprintf(&staff, "- {key: m%d, name: Member %d}\n", i, i)
		fmt.Fprintf(&keys, "m%d, ", i)
	}
	return fmt.Sprintf(`apiVersion: slotmesh/v1
kind: Business
slug: %s
name: Crowd
currency: EUR
timezone: Europe/Lisbon
default_language: en
bookings: {slot_interval_minutes: %d, advance_days: 365}
hours: {mon: ["00:00-24:00"], tue: ["00:00-24:00"], wed: ["00:00-24:00"], thu: ["00:00-24:00"], fri: ["00:00-24:00"], sat: ["00:00-24:00"], sun: ["00:00-24:00"]}
staff:
%sservices: [{key: cut, name: Cut, duration_minutes: 5, staff: [%s]}]
`, slug, interval, staff.String(), strings.TrimSuffix(keys.String(), ", "))
}

// measureProcessorTime returns the processor time that this process has used.
func measureProcessorTime(t *testing.T) time.Duration {
	t.Helper()
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		t.Fatal(err)
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}

// TestReadsOfLargestBusinessesAreBounded sends the most expensive reads of the largest accepted manifests, and checks
// the sizes of the answers. It logs the processor time of all services, the front and the client together. Run it alone
// with `go test -v` to measure.
func TestReadsOfLargestBusinessesAreBounded(t *testing.T) {
	t.Parallel()
	w := sharePlatform(t)
	w.publish(t, "catalogue", buildCatalogue("catalogue"))
	w.publish(t, "department", buildDepartment("department"))
	w.publish(t, "crowd", buildCrowdedBusiness("crowd", 300, 5))
	refused := w.callAdmin(t, http.MethodPut, "businesses/endless", []byte(buildCrowdedBusiness("endless", 300, 1)))
	if refused.status != http.StatusBadRequest || !strings.Contains(string(refused.body),
		"which /slots would list in") {
		t.Errorf("300 members at steps of a minute: %d %.300s", refused.status, refused.body)
	}
	cut := w.idsByName(t, "crowd", "services")["Cut"]
	var rentals struct{ Rentals []listItem }
	w.get(t, "department/rentals").decode(t, http.StatusOK, &rentals)
	address := newAddress()
	reader := &http.Client{Timeout: 3 * time.Minute, Transport: &http.Transport{DisableCompression: true}}
	defer reader.CloseIdleConnections()
	for _, path := range []string{
		"department/info",
		"catalogue/services?date=2027-03-10", "catalogue/services?date=2027-03-10&",
		"catalogue/services?date=2030-01-01", "department/services",
		"crowd/staff", "department/staff", "department/events", "department/rentals?date=2027-03-10",
		"crowd/slots?date=2027-03-10&service_id=" + cut,
		"crowd/available-dates?start=2027-03-01&end=2027-05-01&service_id=" + cut,
		"department/rental-availability?startDate=2027-03-02&endDate=2027-03-03&rentalId=" + rentals.Rentals[0].ID,
		"department/rental-available-dates?start=2027-03-02&end=2027-04-30&rental_id=" + rentals.Rentals[0].ID,
	} {
		before := measureProcessorTime(t)
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, w.PublicURL+"/api/public/"+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		request.Header.Set("X-Forwarded-For", address)
		answer, err := reader.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		n, err := io.Copy(io.Discard, answer.Body)
		_ = answer.Body.Close()
		t.Logf("%-44.44s %d %9d bytes %6.1f ms", path, answer.StatusCode, n,
			(measureProcessorTime(t)-before).Seconds()*1000)
		if answer.StatusCode != http.StatusOK || err != nil {
			t.Errorf("%s answered %d: %v", path, answer.StatusCode, err)
		}
		if n > manifest.MaxSlotsBytes {
			t.Errorf("%s gave %d bytes, more than %d", path, n, manifest.MaxSlotsBytes)
		}
	}
}
