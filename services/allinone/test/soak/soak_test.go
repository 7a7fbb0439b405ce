//go:build !race

// The race detector takes so much of the machine that too little is booked to find what is broken, and sees nothing of
// the services, which are programs: `make test` runs this without it.

package soak

import (
	"context"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/slotmesh/slotmesh/libs/testkit"
)

// programs is where `make build` puts the services' programs, too: what was linked there is not linked again.
const programs = "../../../../bin"

// build makes the services' programs as they run in production.
func build(t *testing.T) {
	t.Helper()
	var commands []string
	for _, service := range services {
		commands = append(commands, "../../../"+service+"/cmd/"+service)
	}
	testkit.Build(t, ".", programs+"/", commands...)
}

// sabotage breaks what keeps the tables right: nothing excludes two bookings of one time, which are slow to be written,
// the counter of a class forgets, class bookings for three are lost although they were answered as made, customers'
// moves leave no event and a cent of each refund is kept.
var sabotage = []string{
	`ALTER TABLE booking.occupied_time DROP CONSTRAINT never_twice`,
	`CREATE FUNCTION linger() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM pg_sleep(0.1); RETURN NEW; END $$`,
	`CREATE TRIGGER linger BEFORE INSERT ON booking.occupied_time FOR EACH ROW EXECUTE FUNCTION linger()`,
	`CREATE FUNCTION forget() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN NEW.taken := 0; RETURN NEW; END $$`,
	`CREATE TRIGGER forget BEFORE INSERT OR UPDATE ON booking.class_sessions FOR EACH ROW EXECUTE FUNCTION forget()`,
	`CREATE FUNCTION lose() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN DELETE FROM booking.bookings WHERE id = NEW.id; RETURN NULL; END $$`,
	`CREATE CONSTRAINT TRIGGER lose AFTER INSERT ON booking.bookings DEFERRABLE INITIALLY DEFERRED
		FOR EACH ROW WHEN (NEW.class_schedule_id IS NOT NULL AND NEW.party_size = 3) EXECUTE FUNCTION lose()`,
	`CREATE FUNCTION hush() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN NULL; END $$`,
	`CREATE TRIGGER hush BEFORE INSERT ON booking.events
		FOR EACH ROW WHEN (NEW.type = 'booking.rescheduled' AND NEW.actor_kind = 'customer') EXECUTE FUNCTION hush()`,
	`CREATE FUNCTION pinch() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN NEW.refund_amount := NEW.refund_amount - 1; RETURN NEW; END $$`,
	`CREATE TRIGGER pinch BEFORE UPDATE ON booking.payments
		FOR EACH ROW WHEN (OLD.refund_amount IS NULL AND NEW.refund_amount > 1) EXECUTE FUNCTION pinch()`,
}

// mustBeFound are the rules of which a run must report that they do not hold.
var mustBeFound = []string{
	"two bookings of one member overlap", "two bookings hold one member's time", "the history of e",
	"more seats of a class sold than there are", "the counter of a class is not the seats sold", "the history of ring",
	"what was answered as made is not there", "a change is not exactly one event", "what was answered as moved",
	// of bookings, tickets and reservations
	" of 4000 were refunded", " of 2000 were refunded", " of 1000 were refunded",
}

// A busy machine books less in the same time, too little perhaps to fill a class: what is not found is looked for in a
// longer run.
func TestTheSoakFindsWhatIsBroken(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(t.Context(), 25*time.Minute)
	defer cancel()
	build(t)
	missing := mustBeFound
	for _, length := range []time.Duration{20 * time.Second, 40 * time.Second, 80 * time.Second, 160 * time.Second} {
		report, err := Run(ctx, Options{
			Programs: programs, Home: filepath.Join(t.TempDir(), "home"), For: length, Clients: 24, Seed: 1, Calm: true,
			Sabotage: sabotage,
		})
		if err != nil {
			t.Fatal(err)
		}
		missing = slices.DeleteFunc(slices.Clone(missing), func(rule string) bool {
			return slices.ContainsFunc(report.Found, func(text string) bool { return strings.Contains(text, rule) })
		})
		if len(missing) == 0 {
			return
		}
		t.Logf("not found within %v: %q", length, missing)
	}
	t.Errorf("not found: %q", missing)
}
