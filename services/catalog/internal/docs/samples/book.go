//go:build ignore

package main

import (
	"bytes"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"log"
	"net/http"
	"os"
)

var api = os.Getenv("BASE") + "/api/public/" + os.Getenv("SLUG")

// call sends a request and decodes the answer into out. If the request is refused, the error contains the code.
func call(method, path string, body, out any) error {
	text, err := json.Marshal(body)
	if err != nil {
		return err
	}
	request, err := http.NewRequest(method, api+path, bytes.NewReader(text))
	if err != nil {
		return err
	}
	if method == http.MethodGet {
		request.Body = http.NoBody
		request.ContentLength = 0
	} else {
		request.Header.Set("Authorization", "Bearer "+os.Getenv("SLOTMESH_KEY"))
		// Keep the key with the order. If no answer arrives, send the same request with the same key again.
		request.Header.Set("Idempotency-Key", rand.Text())
		request.Header.Set("Content-Type", "application/json")
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	if answer.StatusCode >= 400 {
		var refusal struct{ Error, MessageCode string }
		if err := json.NewDecoder(answer.Body).Decode(&refusal); err != nil {
			return err
		}
		return fmt.Errorf("%s: %s", refusal.MessageCode, refusal.Error)
	}
	return json.NewDecoder(answer.Body).Decode(out)
}

func main() {
	// What is offered, and when the first service is free on a day.
	var offered struct{ Services []struct{ ID string } }
	if err := call("GET", "/services", nil, &offered); err != nil {
		log.Fatal(err)
	}
	service := offered.Services[0].ID
	var calendar struct {
		Computed bool
		Slots    []struct {
			Date, Time string
			StaffID    *string
		}
	}
	if err := call("GET", "/slots?date="+os.Getenv("DAY")+"&service_id="+service, nil, &calendar); err != nil {
		log.Fatal(err)
	}
	if !calendar.Computed {
		log.Fatal("not known just now: ask again")
	}
	if len(calendar.Slots) == 0 {
		log.Fatal("no free time on this day")
	}

	// Book it.
	slot := calendar.Slots[0]
	var made json.RawMessage
	if err := call("POST", "/book", map[string]any{
		"service_ids": []string{service}, "date": slot.Date, "time": slot.Time, "staff_id": slot.StaffID,
		"customer_name": "Ada Example", "customer_email": "ada@example.com",
	}, &made); err != nil {
		log.Fatal(err)
	}
	fmt.Println(string(made))
}
