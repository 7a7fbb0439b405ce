package slotmesh_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"time"

	slotmesh "github.com/slotmesh/slotmesh/services/catalog/sdk/go"
)

// bookExample is a test server with the API of a Slotmesh installation. A program uses the URL of an installation
// instead, such as https://book.example.
var bookExample = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
	text, _ := io.ReadAll(r.Body)
	switch {
	case strings.HasSuffix(r.URL.Path, "/services"):
		_, _ = io.WriteString(w,
			`{"services": [{"id": "s1", "name": "Haircut", "price": 40}], "currency": "EUR", "quote": {}}`)
	case strings.HasSuffix(r.URL.Path, "/slots"):
		_, _ = io.WriteString(w, `{"slots": [{"date": "2027-03-01", "time": "10:00", "staffId": "m1", "staffName": "Anna"}], "computed": true, "timezone": "Europe/Lisbon"}`)
	case strings.Contains(string(text), "10:00"):
		w.WriteHeader(http.StatusCreated)
		_, _ = io.WriteString(w, `{"success": true, "booking": {"id": "b1", "start_time": "10:00:00", "status": "pending", "staff_name": "Anna"}, "paymentRequired": false}`)
	default:
		w.WriteHeader(http.StatusConflict)
		_, _ = io.WriteString(w, `{"error": "That time is booked or cannot be booked; choose another from /slots.", "messageCode": "slot_unavailable"}`)
	}
}))

// Example lists services and free slots, and books one.
func Example() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	client, err := slotmesh.New(bookExample.URL, "harbor-studio", slotmesh.WithKey("sm_…"))
	if err != nil {
		panic(err)
	}
	offered, err := client.ListServices(ctx, slotmesh.ListServicesParams{})
	if err != nil {
		panic(err)
	}
	haircut := offered.Services[0]
	free, err := client.ListSlots(ctx,
		slotmesh.ListSlotsParams{Date: "2027-03-01", ServiceID: slotmesh.List{haircut.ID}})
	if err != nil {
		panic(err)
	}
	if !free.Computed {
		panic("not known just now: ask again")
	}
	slot := free.Slots[0]
	// The application stores the key with its order. A repeated request with this key does not book again.
	made, err := client.Book(ctx, "order-1042", slotmesh.BookingRequest{
		ServiceIDs: []string{haircut.ID}, Date: slot.Date, Time: slot.Time, StaffID: slot.StaffID,
		CustomerName: "Ada Example", CustomerEmail: "ada@example.com",
	})
	if err != nil {
		panic(err)
	}
	fmt.Println(haircut.Name, "at", made.Booking.StartTime, "with", made.Booking.StaffName, "is", made.Booking.Status)
	// Output: Haircut at 10:00:00 with Anna is pending
}

// ExampleError decides by the code of an error. The text of an error is for people.
func ExampleError() {
	client, err := slotmesh.New(bookExample.URL, "harbor-studio", slotmesh.WithKey("sm_…"))
	if err != nil {
		panic(err)
	}
	_, err = client.Book(context.Background(), "", slotmesh.BookingRequest{ServiceIDs: []string{"s1"},
		Date: "2027-03-01", Time: "11:00"})
	switch {
	case errors.Is(err, slotmesh.CodeSlotUnavailable), errors.Is(err, slotmesh.CodeNoStaffAvailable):
		fmt.Println("Somebody was faster: offer another time.")
	case slotmesh.OutcomeUnknown(err):
		fmt.Println("It may have been booked: the same order with the same key tells.")
	case err != nil:
		fmt.Println(err)
	}
	// Output: Somebody was faster: offer another time.
}

// ExampleReadWebhook is an endpoint for the webhooks of a business. A webhook with an invalid signature is answered
// with 400 and changes nothing.
func ExampleReadWebhook() {
	endpoint := func(w http.ResponseWriter, r *http.Request) {
		// A program passes time.Now().
		event, err := slotmesh.ReadWebhook("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", r, time.Unix(1614265330, 0))
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		var booking slotmesh.WebhookBooking
		if strings.HasPrefix(event.Type, "booking.") && json.Unmarshal(event.Data, &booking) == nil {
			fmt.Println(event.ID, booking.Status, booking.Sequence)
		}
	}
	request := httptest.NewRequest(http.MethodPost, "/hooks", strings.NewReader(`{"test": 2432232314}`))
	request.Header.Set("webhook-id", "msg_p5jXN8AQM9LWM0D4loKWxJek")
	request.Header.Set("webhook-timestamp", "1614265330")
	request.Header.Set("webhook-signature", "v1,AAAA")
	answer := httptest.NewRecorder()
	endpoint(answer, request)
	fmt.Println(answer.Code, strings.TrimSpace(answer.Body.String()))
	// Output: 400 slotmesh: the webhook is not signed with this secret
}
