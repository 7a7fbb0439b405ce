//go:build !race

// This test runs without the race detector. The detector would slow the clients down so much that they book too little.
// It would not check the services, because they are separate programs.

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

// programs is the folder of the services' programs, which `make build` uses too. Programs in it are not linked again.
const programs = "../../../../bin"

// buildPrograms builds the services' programs as they run in production.
func buildPrograms(t *testing.T) {
	t.Helper()
	var commands []string
	for _, service := range services {
		commands = append(commands, "../../../"+service+"/cmd/"+service)
	}
	testkit.Build(t, ".", programs+"/", commands...)
}

// sabotage damages the database. No constraint excludes overlapping bookings, and bookings are written slowly. The
// counter of a class stays 0. Class bookings for three people are deleted. Reschedules by customers leave no event. A
// cent of each refund is missing.
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

// expectedFindings are texts that the findings of a damaged run must contain.
var expectedFindings = []string{
	"two bookings of one member overlap", "two bookings occupy one member's time", "the history of e",
	"more seats of a class booked than its capacity", "the counter of a class differs from its booked seats",
	"the history of ring",
	"an object that an answer reported as created is missing", "a change has not exactly one event",
	"a successful reschedule",
	// refunds of bookings, tickets and reservations
	" of 4000 were refunded", " of 2000 were refunded", " of 1000 were refunded",
}

// TestRunFindsSabotage shows that the soak finds each kind of damage. A busy machine may book too little in a short
// run, so the test repeats the run with longer durations until no finding is missing.
func TestRunFindsSabotage(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(t.Context(), 25*time.Minute)
	defer cancel()
	buildPrograms(t)
	missing := expectedFindings
	for _, length := range []time.Duration{20 * time.Second, 40 * time.Second, 80 * time.Second, 160 * time.Second} {
		report, err := Run(ctx, Options{
			Programs: programs, Home: filepath.Join(t.TempDir(), "home"), Duration: length, Clients: 24, Seed: 1,
			IsCalm:   true,
			Sabotage: sabotage,
		})
		if err != nil {
			t.Fatal(err)
		}
		missing = slices.DeleteFunc(slices.Clone(missing), func(rule string) bool {
			return slices.ContainsFunc(report.Findings, func(text string) bool { return strings.Contains(text, rule) })
		})
		if len(missing) == 0 {
			return
		}
		t.Logf("not found within %v: %q", length, missing)
	}
	t.Errorf("not found: %q", missing)
}
