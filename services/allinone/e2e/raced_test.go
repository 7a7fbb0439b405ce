//go:build race

package e2e

import "testing"

// init selects the tests that run with the race detector. They book slots, seats, tickets and units concurrently, and
// use agents, replicas, messages, webhooks, a payment and the pages.
func init() {
	racedTests = []func(*testing.T){
		TestConcurrentBookingsSellSlotOnce,
		TestConcurrentPartiesFillClassSeats,
		TestConcurrentOrdersNeverOversellTickets,
		TestConcurrentReservationsStopAtStock,
		TestConcurrentAgentsBookOneSlotOnce,
		TestReplicasWithoutRedisApplyPublishAndRevocation,
		TestBookingMailsCustomerAndOwner,
		TestWebhookDeliversSignedBookingEvents,
		TestBookPaysOnline,
		TestBookingPageBooksWithoutScripts,
	}
}
