package soak

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"text/tabwriter"
	"time"
)

// Report is the result of a soak.
type Report struct {
	Seed       uint64
	Duration   time.Duration
	Operations int
	Attempts   int
	Rows       int            // number of bookings, ticket orders and reservations, including cancelled ones
	Resources  int            // number of resources whose history was checked
	Answers    map[string]int // number of answers, by status and messageCode
	Faults     []Fault
	Changes    map[string]int // number of changes by the owner, by kind
	Findings   []string       // all findings; empty if everything is correct
}

// Fault describes the recovery from the faults of one kind, with their number and the recovery times. A recovery time
// begins at the end of a fault and ends with the first successful answer to a request that began after the fault.
type Fault struct {
	Kind          string
	Times         int
	Median, Worst time.Duration
}

func (r *run) newReport(rows, resources int) *Report {
	report := &Report{
		Seed: r.o.Seed, Duration: r.o.Duration, Operations: len(r.workload.operations), Attempts: r.attempts,
		Rows:      rows,
		Resources: resources,
		Answers:   r.answers, Changes: r.owner.changes,
	}
	recoveries := map[string][]time.Duration{}
	for _, t := range r.nemesis.pastFaults {
		recoveries[t.kind] = append(recoveries[t.kind], r.findRecovery(t))
	}
	for _, kind := range slices.Sorted(maps.Keys(recoveries)) {
		all := recoveries[kind]
		slices.Sort(all)
		report.Faults = append(report.Faults, Fault{kind, len(all), all[len(all)/2], all[len(all)-1]})
	}
	return report
}

// findRecovery returns the time from the end of the fault `t` to the first successful answer to a request that began
// after this end. If the fault is in a replica that clients call, the answer must come from that replica. Otherwise the
// answer may come from any replica. If there was no such answer, findRecovery returns 0.
func (r *run) findRecovery(t pastFault) time.Duration {
	for _, a := range r.successes {
		if a.begin < t.end {
			continue
		}
		if a.replica == t.replica || a.id != "" && (t.replica == nil || t.replica.service == "pricing") {
			return a.end - t.end
		}
	}
	return 0
}

// maxShownFindings is the maximum number of findings that the report prints, because one fault can affect very many
// rows.
const maxShownFindings = 40

// Print writes the report as text that a person can read.
func (r *Report) Print(out io.Writer) error {
	table := tabwriter.NewWriter(out, 0, 4, 2, ' ', 0)
	_, _ = fmt.Fprintf(table, "\n%d operations in %d attempts over %s; %d rows; %d histories\n\nanswer\ttimes\n",
		r.Operations, r.Attempts, r.Duration, r.Rows, r.Resources)
	for _, answer := range slices.Sorted(maps.Keys(r.Answers)) {
		_, _ = fmt.Fprintf(table, "%s\t%d\n", answer, r.Answers[answer])
	}
	_, _ = fmt.Fprint(table, "\nfault\ttimes\tgood again after (median)\t(worst)\n")
	total := 0
	for _, f := range r.Faults {
		_, _ = fmt.Fprintf(table, "%s\t%d\t%.2fs\t%.2fs\n", f.Kind, f.Times, f.Median.Seconds(), f.Worst.Seconds())
		total += f.Times
	}
	for _, label := range slices.Sorted(maps.Keys(r.Changes)) {
		_, _ = fmt.Fprintf(table, "%s\t%d\n", label, r.Changes[label])
		total += r.Changes[label]
	}
	_, _ = fmt.Fprintf(table, "together\t%d\n", total)
	if err := table.Flush(); err != nil {
		return err
	}
	for i, text := range r.Findings {
		if i == maxShownFindings {
			_, _ = fmt.Fprintf(out, "… and %d more\n", len(r.Findings)-i)
			break
		}
		_, _ = fmt.Fprintf(out, "FINDING: %s\n", text)
	}
	return nil
}
