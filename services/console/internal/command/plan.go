package command

import (
	"fmt"
	"net/http"
	"strings"

	"github.com/spf13/cobra"

	"github.com/slotmesh/slotmesh/libs/contracts/booking"
	"github.com/slotmesh/slotmesh/libs/contracts/manifest"
	"github.com/slotmesh/slotmesh/libs/platform/clock"
	"github.com/slotmesh/slotmesh/libs/values/fault"
	"github.com/slotmesh/slotmesh/services/console/internal/offer/plan"
)

// conflictsError means that publishing a manifest would cause new conflicts between the offer and existing bookings,
// reservations or tickets. The field `count` is the number of these conflicts.
type conflictsError struct{ count int }

func (e *conflictsError) Error() string {
	return fmt.Sprintf("publishing this would leave outside what was promised to customers (%d); move or cancel that "+
		"first, or apply it nonetheless.", e.count)
}

func (c *command) newPlanCommand() *cobra.Command {
	var file string
	cmd := &cobra.Command{
		Use: "plan -f FILE",
		Short: "Say what publishing a manifest would change, and which bookings it would leave outside; publish " +
			"nothing",
		Long: `Say what publishing a manifest would change, and which bookings, reservations and tickets ahead the new offer could not take.
Nothing is published.

Exit code 4 says that something would be outside that is not outside now; 0, that nothing would.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			src, err := c.readManifest(file)
			if err != nil {
				return err
			}
			return c.printPlanFor(cmd, src)
		},
	}
	addFileFlag(cmd, &file)
	return cmd
}

func (c *command) printPlanFor(cmd *cobra.Command, src *source) error {
	slug, err := c.findSlug(src)
	if err != nil {
		return err
	}
	client, err := c.client()
	if err != nil {
		return err
	}
	defer client.close()
	body, err := client.do(cmd.Context(), newManifestRequest(http.MethodPost, buildPath(slug, "diff"), src))
	if problems := manifest.ProblemsOf(err); len(problems) > 0 {
		return c.reportProblems(src, problems)
	}
	if fault.Is(err, fault.BusinessNotFound) {
		return c.printPlanForFirst(src, slug)
	}
	if err != nil {
		return err
	}
	var p plan.Plan
	if err := client.read(body, &p); err != nil {
		return err
	}
	c.warn(src, p.Warnings)
	return c.printPlan(slug, &p)
}

// printPlanForFirst prints the plan for a business that does not exist yet. The server has no version to compare with,
// so printPlanForFirst only checks the manifest.
func (c *command) printPlanForFirst(src *source, slug string) error {
	if _, problems := manifest.Parse(src.text); len(problems) > 0 {
		return c.reportProblems(src, problems)
	}
	warnings := manifest.Warnings(src.text, clock.System().Now())
	c.warn(src, warnings)
	return c.printDone(plan.Plan{Warnings: warnings}, "%s is not published yet; apply publishes it as version 1", slug)
}

func (c *command) printPlan(slug string, p *plan.Plan) error {
	if c.output == jsonFormat || c.output == yamlFormat {
		if err := c.print(p, table{}); err != nil {
			return err
		}
		return checkSafe(p)
	}
	if len(p.Changes) == 0 {
		if err := c.printDone(p, "%s: nothing would change", slug); err != nil {
			return err
		}
	} else if err := c.printTable(newChangesTable(p)); err != nil {
		return err
	}
	if p.Conflicts.Count > 0 {
		if err := c.write([]byte("\n")); err != nil {
			return err
		}
		if err := c.printTable(newConflictsTable(&p.Conflicts)); err != nil {
			return err
		}
	}
	if k := p.Kept; k != nil {
		_, _ = fmt.Fprintf(c.host.Stderr,
			"slotmesh: bookings (%d), tickets (%d) and reservations (%d) that lie ahead keep the time zone and the "+
				"currency they were sold in.\n",
			k.Bookings, k.Tickets, k.Reservations)
	}
	if p.Erasure != nil {
		if err := c.write([]byte("\n" + describeErasure(p.Erasure) + "\n")); err != nil {
			return err
		}
	}
	if p.Relocated > 0 {
		_, _ = fmt.Fprintf(c.host.Stderr, "slotmesh: customers (%d) have bookings ahead at a place whose address changes; "+
			"apply --notify-customers emails them the new address.\n", p.Relocated)
	}
	if p.Conflicts.IsIncomplete {
		_, _ = fmt.Fprintln(c.host.Stderr, "slotmesh: more lies ahead than is looked at; only the nearest was.")
	}
	return checkSafe(p)
}

func describeErasure(e *plan.Erasure) string {
	atLeast := ""
	if e.HasMore {
		atLeast = "at least "
	}
	return fmt.Sprintf("Customers to erase: %s%d (their data is kept for %d days after the booking, %d until now)",
		atLeast, e.Customers, e.KeepCustomersDays, e.Before)
}

// checkSafe returns an error if publishing the manifest of the plan would cause new conflicts.
func checkSafe(p *plan.Plan) error {
	if n := p.Conflicts.CountNew(); n > 0 {
		return &conflictsError{n}
	}
	return nil
}

func newChangesTable(p *plan.Plan) table {
	t := table{head: []string{"CHANGE", "FIELD", "IN WORDS"}}
	for _, change := range p.Changes {
		t.rows = append(t.rows, []string{change.Change, change.Path, change.Summary})
	}
	if p.MoreChanges > 0 {
		t.rows = append(t.rows, []string{"…", fmt.Sprintf("%d more", p.MoreChanges), ""})
	}
	return t
}

func newConflictsTable(o *plan.Conflicts) table {
	t := table{head: []string{"OUTSIDE", "WHEN", "WHAT", "FOR", "WHY", "ID"}}
	row := func(kind, when, label, customer, why, id string, already bool) {
		if already {
			why += " (as it is now, too)"
		}
		t.rows = append(t.rows, []string{kind, when, label, customer, why, id})
	}
	for _, b := range o.Bookings {
		row("booking", b.Booking.Date+" "+formatPlanClock(b.Booking.StartTime), joinServices(&b.Booking),
			b.Booking.CustomerName,
			b.Reason.Message, b.Booking.ID.String(), b.IsExisting)
	}
	for _, r := range o.Reservations {
		reservation := r.Reservation
		row("reservation", reservation.StartDate.String(), reservation.RentalName, reservation.CustomerName,
			r.Reason.Message,
			reservation.ID.String(), r.Already)
	}
	for _, e := range o.Tickets {
		row("tickets", e.Date.String(), strings.TrimSpace(e.Event+" "+e.Tier), fmt.Sprintf("%d sold", e.Sold),
			e.Reason.Message, e.EventID.String(), e.IsExisting)
	}
	if o.Omitted > 0 {
		t.rows = append(t.rows, []string{"…", fmt.Sprintf("%d more", o.Omitted), "", "", "", ""})
	}
	return t
}

// formatPlanClock returns a time of day without its seconds.
func formatPlanClock(t string) string { return t[:min(len(t), len("15:04"))] }

func joinServices(b *booking.Booking) string {
	names := make([]string, len(b.Services))
	for i, s := range b.Services {
		names[i] = s.Name
	}
	return strings.Join(names, ", ")
}
