package api

import (
	"bytes"
	"encoding/json"
	"errors"
	"net/http"
	"testing"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/contracts/availability"
	"github.com/slotmesh/slotmesh/libs/contracts/booking"
	"github.com/slotmesh/slotmesh/libs/contracts/catalog"
	"github.com/slotmesh/slotmesh/libs/values/fault"
	"github.com/slotmesh/slotmesh/libs/values/timespan"
)

func (s service) postExplain(t *testing.T, q availability.Question) reply {
	t.Helper()
	body, err := json.Marshal(availability.ExplainRequest{Slug: "harbor", OfferVersion: 3, Question: q})
	if err != nil {
		t.Fatal(err)
	}
	answer, err := http.Post(s.internal+"/internal/explain", "application/json", bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	return readReply(t, answer)
}

// newQuestionAt returns a question about one service at a local time.
func newQuestionAt(t *testing.T, service uuid.UUID, local string) availability.Question {
	t.Helper()
	at, err := timespan.ParseLocalDateTime(local)
	if err != nil {
		t.Fatal(err)
	}
	return availability.Question{ServiceIDs: []uuid.UUID{service}, Date: at.Date, Time: at.Time}
}

// explainStart returns the explanation of one start, after a change of the peers.
func explainStart(t *testing.T, q availability.Question, change func(*fakePeers)) *availability.Explanation {
	t.Helper()
	var explanation availability.Explanation
	reply := startService(t, change).postExplain(t, q)
	if reply.status != http.StatusOK {
		t.Fatalf("%d %s", reply.status, reply.body)
	}
	reply.decode(t, &explanation)
	return &explanation
}

func TestExplainReportsFirstRuleForEachMember(t *testing.T) {
	t.Parallel()
	got := startService(t, func(n *fakePeers) {
		n.busy = []booking.Busy{newBusy(ben, 0, "2027-03-02T09:30", "2027-03-02T10:30")}
		noon := timespan.LocalDateTime{Date: parseDate(t, "2027-03-02"), Time: 12 * 60}
		n.offer.Blocks = []catalog.Block{{From: timespan.LocalDateTime{Date: noon.Date}, To: noon,
			StaffIDs: []uuid.UUID{anna}, Reason: "dentist"}}
	}).postExplain(t, newQuestionAt(t, haircut, "2027-03-02T10:00"))
	got.expect(t, 200, `{"computed": true, "timezone": "Europe/Lisbon", "bookable": false,
		"reason": {"rule": "booking", "whose": "staff", "staff_id": "`+ben.String()+`", "staff_name": "Ben",
			"from": "2027-03-02T09:30", "to": "2027-03-02T10:30",
			"message": "Ben is booked from 2027-03-02T09:30 to 2027-03-02T10:30, buffers included."},
		"staff": [
			{"staff_id": "`+anna.String()+`", "name": "Anna \"A\" <Ω>", "bookable": false,
				"reason": {"rule": "block", "whose": "staff", "staff_id": "`+anna.String()+`", "staff_name": "Anna \"A\" <Ω>", "name": "dentist",
					"from": "2027-03-02T00:00", "to": "2027-03-02T12:00",
					"message": "Anna \"A\" <Ω> is blocked from 2027-03-02T00:00 to 2027-03-02T12:00 (dentist)."}},
			{"staff_id": "`+ben.String()+`", "name": "Ben", "bookable": false,
				"reason": {"rule": "booking", "whose": "staff", "staff_id": "`+ben.String()+`", "staff_name": "Ben",
					"from": "2027-03-02T09:30", "to": "2027-03-02T10:30",
					"message": "Ben is booked from 2027-03-02T09:30 to 2027-03-02T10:30, buffers included."}}]}`)
}

func parseDate(t *testing.T, text string) timespan.Date {
	t.Helper()
	d, err := timespan.ParseDate(text)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func TestExplainReportsEachRule(t *testing.T) {
	t.Parallel()
	later := parseDate(t, "2027-04-01")
	for _, c := range []struct {
		rule, at, message string
		service           uuid.UUID
		change            func(*fakePeers)
	}{
		{"", "2027-03-02T10:00", "", haircut, func(*fakePeers) {}},
		{"closed", "2027-03-02T12:00", "The business is closed then.", haircut, nil},
		{"override", "2027-03-02T10:00", "An override of the business's hours on 2027-03-02 leaves this time out.",
			haircut,
			func(n *fakePeers) {
				n.offer.Overrides = []catalog.DayOverride{{Date: parseDate(t, "2027-03-02")}}
			}},
		{"closed", "2027-03-02T10:00", "Whoever performs it does not work then.", haircut, func(n *fakePeers) {
			n.offer.Staff[0].Hours, n.offer.Staff[1].Hours = &catalog.WeekHours{}, &catalog.WeekHours{}
		}},
		{"class", "2027-03-03T18:00", "Whoever performs it gives Yoga then.", colour, func(n *fakePeers) {
			n.offer.Services[1].StaffIDs, n.offer.Services[3].Name = []uuid.UUID{ben}, "Yoga"
			n.offer.Hours[3] = []timespan.Window{{From: 8 * 60, To: 20 * 60}}
		}},
		{"booking", "2027-03-02T10:00",
			"All places are taken, one of them from 2027-03-02T10:00 to 2027-03-02T11:00, buffers included.", sauna,
			func(n *fakePeers) {
				n.busy = []booking.Busy{newBusy(sauna, 1, "2027-03-02T10:00", "2027-03-02T11:00"),
					newBusy(sauna, 2, "2027-03-02T10:00", "2027-03-02T11:00")}
			}},
		{"buffer", "2027-03-02T10:00",
			"The service's own buffer of up to 15 minutes does not fit between what is taken.", colour,
			func(n *fakePeers) {
				n.offer.Services[1].BufferAfterMinutes = 15
				n.busy = []booking.Busy{newBusy(anna, 0, "2027-03-02T10:30", "2027-03-02T11:00")}
			}},
		{"grid", "2027-03-02T10:10",
			"Starts lie 60 minutes apart, counted from when hours begin, and this is between two of them.", haircut,
			nil},
		{"past", "2027-02-26T10:00", "This time is over.", haircut, nil},
		{"notice", "2027-03-01T10:00", "Bookings are taken 180 minutes ahead: now from 2027-03-01T11:00 on.", haircut,
			func(n *fakePeers) {
				n.offer.Bookings.MinNoticeMinutes = 180
			}},
		{"advance_limit", "2027-04-01T10:00", "Bookings are taken up to 2027-03-31.", haircut, nil},
		{"class_full", "2027-03-03T18:00", "All seats of the class are taken.", yoga, func(n *fakePeers) {
			n.seats = []booking.SeatsTaken{{SessionID: evening, StartsAt: parseInstant("2027-03-03T18:00"), Taken: 10}}
		}},
		{"no_session", "2027-03-02T18:00", "No session of the class starts then.", yoga, nil},
		{"inactive", "2027-03-02T10:00", "Braids is not active.", retired, func(n *fakePeers) {
			n.offer.Services[4].Name = "Braids"
		}},
		{"paused", "2027-03-02T10:00", "Online bookings are paused until 2027-04-01.", haircut, func(n *fakePeers) {
			n.offer.Bookings.PausedUntil = &later
		}},
		{"not_open", "2027-03-02T10:00", "The business is not open for bookings yet.", haircut, func(n *fakePeers) {
			n.offer.NotYetOpen = true
		}},
		{"subscription", "2027-03-02T10:00", "The business's subscription is inactive, so it takes no bookings.",
			haircut,
			func(n *fakePeers) {
				n.offer.Account.SubscriptionActive = false
			}},
	} {
		t.Run(c.rule+" "+c.at, func(t *testing.T) {
			t.Parallel()
			got := explainStart(t, newQuestionAt(t, c.service, c.at), func(n *fakePeers) {
				n.offer.Account.SubscriptionActive = true
				if c.change != nil {
					c.change(n)
				}
			})
			switch {
			case !got.Computed || got.Bookable != (c.rule == ""):
				t.Errorf("%+v", got)
			case got.Reason == nil && c.rule != "",
				got.Reason != nil && (got.Reason.Rule != c.rule || got.Reason.Message != c.message):
				t.Errorf("want %s: %s\ngot %+v", c.rule, c.message, got.Reason)
			}
		})
	}
}

func TestExplainAnswersUncomputedWithoutPeers(t *testing.T) {
	t.Parallel()
	const unknown = `{"computed": false, "timezone": "Europe/Lisbon", "bookable": false, "reason": null, "staff": []}`
	s := startService(t, func(n *fakePeers) { n.busyErr = errors.New("booking is away") })
	s.postExplain(t, newQuestionAt(t, haircut, "2027-03-02T10:00")).expect(t, 200, unknown)
	s = startService(t, func(n *fakePeers) { n.offerErr = fault.New(fault.PeerUnavailable, "catalog is away") })
	s.postExplain(t, newQuestionAt(t, haircut, "2027-03-02T10:00")).expect(t, 200,
		`{"computed": false, "timezone": "", "bookable": false, "reason": null, "staff": []}`)
}

func TestExplainRefusesInvalidQuestions(t *testing.T) {
	t.Parallel()
	s := startService(t, nil)
	unknown := uuid.MustParse("12121212-1212-4212-8212-121212121212")
	if got := s.postExplain(t, newQuestionAt(t, unknown, "2027-03-02T10:00")); got.status != 404 {
		t.Errorf("an unknown service: %d %s", got.status, got.body)
	}
	if got := s.postExplain(t, availability.Question{}); got.status != 400 {
		t.Errorf("no service: %d %s", got.status, got.body)
	}
}
