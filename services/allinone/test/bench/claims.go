package bench

import (
	"fmt"
	"io"
	"net/http"
	"slices"
	"text/tabwriter"
	"time"
)

// Claim is a measured value, mostly a ratio, and the bound that Slotmesh promises for the value.
type Claim struct {
	What         string
	Value        float64
	Bound        float64 // 0: there is no bound, and the value is only reported
	IsUpperBound bool    // true: the value must not exceed Bound; false: it must not be below Bound
}

// Holds reports whether the measured value respects the bound.
func (c Claim) Holds() bool {
	if c.IsUpperBound {
		return c.Value <= c.Bound
	}
	return c.Value >= c.Bound
}

// verdict returns the bound, and the result of the comparison with the bound, as the report prints them.
func (c Claim) verdict() (string, string) {
	if c.Bound == 0 {
		return "", ""
	}
	bound, verdict := "≥", "reached"
	if c.IsUpperBound {
		bound = "≤"
	}
	if !c.Holds() {
		verdict = "not reached"
	}
	return fmt.Sprintf("%s %.1f", bound, c.Bound), verdict
}

// listClaims returns Slotmesh's promises about speed, with the measured values from the rows of `r`.
func listClaims(r *Report) []Claim {
	rows := map[string]Row{}
	for _, row := range r.Rows {
		rows[row.Name] = row
	}
	cpu := func(a, b string) float64 { return ratio(float64(rows[a].serverCPU()), float64(rows[b].serverCPU())) }
	withStores := func(a, b string) Claim {
		return Claim{What: "  with PostgreSQL's and Redis's on both sides",
			Value: ratio(float64(rows[a].totalCPU()), float64(rows[b].totalCPU()))}
	}
	sessions := func(a, b string) float64 { return ratio(float64(rows[a].Sessions), float64(rows[b].Sessions)) }
	hot := rows[bookContested]
	list := append(listEngineClaims(r.Engine),
		Claim{"/info: CPU a request against bare fiber with the same bytes", cpu(infoName, infoBare), 1.4, true},
		Claim{"/services: CPU a request against the same", cpu(servicesName, servicesBare), 1.4, true},
		Claim{"/slots, one day, 10 staff: CPU a request against bare fiber, script and query",
			cpu(slotsName, slotsBare), 3, true},
		withStores(slotsName, slotsBare),
		Claim{"/available-dates, 62 days: CPU a request against the same", cpu(datesName, datesBare), 4, true},
		withStores(datesName, datesBare),
		Claim{"/rental-availability, 30 days: CPU a request against the same", cpu(rentalName, rentalBare), 3, true},
		withStores(rentalName, rentalBare),
		Claim{"the booking page's first view: CPU against /info and /services, which it reads",
			ratio(float64(rows[pageName].serverCPU()),
				float64(rows[frontInfo].serverCPU()+rows[frontServices].serverCPU())),
			1.5, true},
		Claim{"POST /book, distinct slots: throughput against one-statement inserts",
			ratio(rows[bookName].PerSecond, rows[bookBare].PerSecond), 0, false},
		Claim{"  throughput against two statements with all that no booking can do without",
			ratio(rows[bookName].PerSecond, rows[bookMinimal].PerSecond), 0.2, false},
		Claim{"  PostgreSQL's CPU a booking, in booking's sessions, against that of the one statement",
			sessions(bookName, bookBare), 0, true},
		Claim{"  the same against that of the two statements", sessions(bookName, bookMinimal), 1.6, true},
		Claim{"POST /book, one member, 64 clients: p99 against p50", ratio(float64(hot.P99), float64(hot.P50)), 10,
			true},
		Claim{"MCP find_slots: CPU a request against the same SDK with a tool that only asks for /slots",
			cpu(agentName, agentBare), 1.7, true},
		withStores(agentName, agentBare),
	)
	list = slices.Concat(list, listStartClaims(r), listPageClaims(r), listGrowthClaims(r.Grown))
	return slices.DeleteFunc(list, func(c Claim) bool { return c.Value == 0 }) // 0: the value was not measured
}

// listStartClaims compares how fast services start and how much memory they need.
func listStartClaims(r *Report) []Claim {
	var list []Claim
	for _, s := range r.Startups {
		list = append(list,
			Claim{s.Service + ": ready, against 300 ms", ratio(float64(s.Ready), float64(maxReadyTime)), 1, true},
			Claim{s.Service + ": resident when idle, against 40 MB", ratio(float64(s.Resident), maxIdleResident), 1,
				true})
	}
	return list
}

// listPageClaims compares what a browser measured on the booking page and in the owner's calendar.
func listPageClaims(r *Report) []Claim {
	var list []Claim
	for _, p := range r.Painted {
		list = append(list, Claim{"the booking page, " + p.Page + ": largest paint at 1.6 Mbit/s and 150 ms, against " +
			"1.2 s", ratio(float64(p.Largest), float64(maxPaintTime)), 1, true})
	}
	if len(r.Painted) > 0 {
		p := r.Painted[0] // the same value for all steps
		list = append(list, Claim{"the booking page: script on the line, against 25 kB",
			ratio(float64(p.Script), maxScript), 1, true},
			Claim{"the booking page: style on the line, against 15 kB", ratio(float64(p.Style), maxStyle), 1, true})
	}
	if r.Week != nil {
		list = append(list, Claim{"the owner's calendar: the longest task of a week of 20 members and 2,000 " +
			"bookings, against 100 ms", ratio(float64(max(r.Week.Longest, minLongTask)), float64(maxTaskTime)), 1,
			true})
	}
	return list
}

func listEngineClaims(rows []EngineRow) []Claim {
	byName := map[string]EngineRow{}
	for _, row := range rows {
		byName[row.Name] = row
	}
	var list []Claim
	for _, members := range []string{"1", "20"} {
		listed, plain := byName["Scenario/members="+members+"/list"], byName["Scenario/members="+members+"/plain-sweep"]
		if plain.Time > 0 {
			list = append(list, Claim{"slot engine, " + members + " members listed: time against the plain sweep",
				ratio(float64(listed.Time), float64(plain.Time)), 1.3, true})
		}
	}
	for _, report := range []string{"bookings", "revenue", "staff-time"} {
		read, plain := byName["Reports/"+report+"/report"], byName["Reports/"+report+"/plain"]
		if plain.Time > 0 {
			list = append(list, Claim{"report of " + report + ", a year of 100,000 bookings by week: time against " +
				"plain SQL", ratio(float64(read.Time), float64(plain.Time)), 1.5, true})
		}
	}
	large := byName["Large/one-appointment-of-20/list"]
	return append(list, Claim{"slot engine, 62 days of 20 services, 300 members, 60,000 bookings listed, against 60 ms",
		ratio(float64(large.Time), float64(60*time.Millisecond)), 1, true})
}

func ratio(a, b float64) float64 {
	if b == 0 {
		return 0
	}
	return a / b
}

// Print writes the report in the format of the README.
func (r *Report) Print(out io.Writer) error {
	t := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	if len(r.Engine) > 0 {
		_, _ = fmt.Fprint(t, "slot engine\ttime\tallocations\t\n")
		for _, row := range r.Engine {
			_, _ = fmt.Fprintf(t, "%s\t%s\t%d\t\n", row.Name, row.Time, row.Allocs)
		}
		_, _ = fmt.Fprintln(t)
	}
	if len(r.Startups) > 0 {
		_, _ = fmt.Fprint(t, "service\tready in\tresident MB, idle\t\n")
		for _, s := range r.Startups {
			_, _ = fmt.Fprintf(t, "%s\t%s\t%.1f\t\n", s.Service, s.Ready.Round(time.Millisecond),
				float64(s.Resident)/(1<<20))
		}
		_, _ = fmt.Fprintln(t)
	}
	if len(r.Rows) > 0 {
		_, _ = fmt.Fprint(t, "\trequests/s\tp50 ms\tp99 ms\tp99.9 ms\tserver µs\tPostgres µs\tin its sessions\tRedis "+
			"µs\tallocs\tkB\tresident MB\t\n")
		for _, row := range r.Rows {
			sessions := ""
			if row.Sessions > 0 {
				sessions = microseconds(row.Sessions)
			}
			_, _ = fmt.Fprintf(t, "%s\t%.0f\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%.0f\t%.1f\t%d\t\n", row.Name, row.PerSecond,
				milliseconds(row.P50), milliseconds(row.P99), milliseconds(row.P999), microseconds(row.serverCPU()),
				microseconds(row.CPU.Postgres), sessions, microseconds(row.CPU.Redis), row.Allocs, row.Bytes/1000,
				row.Resident>>20)
		}
	}
	if len(r.Painted) > 0 {
		_, _ = fmt.Fprint(t, "\nthe booking page, on a phone\tlargest paint ms\tkB of HTML\tkB of script\tkB of "+
			"style\t\n")
		for _, p := range r.Painted {
			_, _ = fmt.Fprintf(t, "%s\t%d\t%.1f\t%.1f\t%.1f\t\n", p.Page, p.Largest.Milliseconds(),
				float64(p.HTML)/1000, float64(p.Script)/1000, float64(p.Style)/1000)
		}
	}
	if r.Week != nil {
		_, _ = fmt.Fprint(t, "\nthe owner's calendar, on a desk\tbookings drawn\tlongest task ms\tloaded ms\t\n")
		_, _ = fmt.Fprintf(t, "a week of 20 members\t%d\t%d\t%d\t\n", r.Week.Boxes, r.Week.Longest.Milliseconds(),
			r.Week.Loaded.Milliseconds())
	}
	printGrowth(t, r.Grown)
	_, _ = fmt.Fprint(t, "\nratio\tbound\tmeasured\t\t\n")
	for _, c := range r.Claims {
		bound, verdict := c.verdict()
		_, _ = fmt.Fprintf(t, "%s\t%s\t%.2f\t%s\t\n", c.What, bound, c.Value, verdict)
	}
	if err := t.Flush(); err != nil {
		return err
	}
	return r.printHot(out)
}

// printHot prints the results of the cases in which requests compete for the slots of one staff member.
func (r *Report) printHot(out io.Writer) error {
	for _, row := range r.Rows {
		if row.Name != bookContested {
			continue
		}
		if _, err := fmt.Fprintf(out, "\nOne member, 64 clients: %d booked, %d refused with 409, nothing else.\n",
			row.Statuses[http.StatusCreated], row.Statuses[http.StatusConflict]); err != nil {
			return err
		}
	}
	return nil
}

func milliseconds(d time.Duration) string {
	return fmt.Sprintf("%.2f", float64(d)/float64(time.Millisecond))
}
func microseconds(d time.Duration) string {
	return fmt.Sprintf("%.1f", float64(d)/float64(time.Microsecond))
}
