//go:build race

package e2e

import "testing"

// The race detector checks concurrent bookings of a slot, of seats, of tickets and of units. It also checks agents,
// replicas, messages, webhooks, payments and pages.
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
