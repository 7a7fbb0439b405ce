package mcp_test

import (
	"bytes"
	"fmt"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/valyala/fasthttp"
)

// slotsAnswer returns the answer of availability for a day of ten staff members with sixteen free slots each.
func slotsAnswer() string {
	var members []string
	for range 10 {
		members = append(members, uuid.NewString())
	}
	var list []string
	for i := range 160 {
		start := time.Date(2027, 3, 1, 9, 30*(i/10), 0, 0, time.UTC)
		list = append(list,
			fmt.Sprintf(`{"time":%q,"endTime":%q,"staffId":%q,"staffName":"Member %d","date":"2027-03-01","dateOffset":0}`,
				start.Format("15:04"), start.Add(30*time.Minute).Format("15:04"), members[i%10], i%10))
	}
	return `{"slots":[` + strings.Join(list, ",") + `],"computed":true,"timezone":"Europe/Lisbon"}`
}

// startPeers starts fake peers that answer from memory, so that the benchmark measures mostly the service.
func startPeers(b *testing.B) string {
	b.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	answers := map[string]string{
		"/internal/keys/check":              `{"business_id":"` + businessID + `","id":"` + annaID + `","scope":"all"}`,
		"/internal/slugs/" + businessID:     `{"slug":"harbor"}`,
		"/internal/api/public/harbor/slots": slotsAnswer(),
	}
	beside := &fasthttp.Server{Handler: func(c *fasthttp.RequestCtx) {
		c.SetContentType("application/json")
		c.SetBodyString(answers[string(c.Path())])
	}}
	go func() { _ = beside.Serve(l) }()
	b.Cleanup(func() { _ = beside.Shutdown() })
	return "http://" + l.Addr().String()
}

// BenchmarkFindSlotsOfOneDate calls find_slots for one date over HTTP, with fake peers.
func BenchmarkFindSlotsOfOneDate(b *testing.B) {
	address := startWithPeers(b, startPeers(b))
	client := &fasthttp.HostClient{Addr: address, Dial: func(at string) (net.Conn, error) {
		return net.Dial("tcp", at)
	}}
	b.Cleanup(client.CloseIdleConnections)
	request, answer := fasthttp.AcquireRequest(), fasthttp.AcquireResponse()
	request.SetRequestURI("http://" + address + "/mcp")
	request.Header.SetMethod("POST")
	request.Header.SetContentType("application/json")
	request.Header.Set("Accept", "application/json, text/event-stream")
	request.Header.Set("Authorization", "Bearer all")
	request.SetBodyString(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"find_slots","arguments":{"service_ids":["` + cutID + `"],"date":"2027-03-01"}}}`)
	b.ReportAllocs()
	for b.Loop() {
		if err := client.Do(request, answer); err != nil {
			b.Fatal(err)
		}
		if !bytes.Contains(answer.Body(), []byte(`"total":160`)) {
			b.Fatalf("%d %s", answer.StatusCode(), answer.Body())
		}
	}
}
