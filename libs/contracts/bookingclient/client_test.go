package bookingclient_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/contracts/booking"
	"github.com/slotmesh/slotmesh/libs/contracts/bookingclient"
	"github.com/slotmesh/slotmesh/libs/platform/peer"
	"github.com/slotmesh/slotmesh/libs/values/fault"
)

// replica is a fake caller of booking that returns the same body for each request and stores the last request.
type replica struct {
	bookingclient.Caller
	body  []byte
	asked peer.Request
}

func (r *replica) Do(_ context.Context, request peer.Request) (*peer.Response, error) {
	r.asked = request
	return &peer.Response{Status: 200, Body: r.body}, nil
}

func TestOccupiedDecodesAnswer(t *testing.T) {
	t.Parallel()
	want := booking.Occupied{Busy: []booking.Busy{{Resource: booking.Resource{ID: uuid.New()},
		Edges: []int64{1803862800, 1803864600}}}}
	want.Seats = []booking.SeatsTaken{{SessionID: uuid.New(), StartsAt: 7, Taken: 2}}
	body, err := want.AppendBinary(nil)
	if err != nil {
		t.Fatal(err)
	}
	r := &replica{body: body}
	business := uuid.MustParse("99999999-9999-4999-8999-999999999999")
	got, err := bookingclient.NewClient(r).Occupied(t.Context(), business, time.Unix(-5, 0), time.Unix(86400, 0),
		booking.OccupiedQuery{Seats: true, Locations: true, Except: &business})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(&want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	const id = "99999999-9999-4999-8999-999999999999"
	path := "/internal/businesses/" + id + "/occupied?from=-5&to=86400&seats=true&locations=true&moving=" + id
	if r.asked.Path != path {
		t.Errorf("asked %s, want %s", r.asked.Path, path)
	}
}

func TestOccupiedRejectsUnreadableAnswer(t *testing.T) {
	t.Parallel()
	for _, body := range []string{"", "{", "\x01\x01"} {
		r := &replica{body: []byte(body)}
		got, err := bookingclient.NewClient(r).Occupied(t.Context(), uuid.New(), time.Unix(0, 0), time.Unix(1, 0),
			booking.OccupiedQuery{})
		if !fault.Is(err, fault.PeerUnavailable) || got != nil {
			t.Errorf("%q: %+v, %v", body, got, err)
		}
		if strings.Contains(r.asked.Path, "seats") {
			t.Errorf("%s asks for seats", r.asked.Path)
		}
	}
}
