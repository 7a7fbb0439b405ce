package availability

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/timespan"
)

// SlotsType is the media type of [Slots]. A peer that reads /slots on the internal port and can read it names it in Accept;
// others get the public answer.
const SlotsType = "application/vnd.slotmesh.slots+json"

// Slots says what /slots says of a date, in columns: a tenth of the bytes, and written and read without spelling out the
// same dates, times, ids and names again and again.
type Slots struct {
	Computed bool          `json:"computed"`
	Timezone string        `json:"timezone"` // "" where the offer could not be read
	Date     timespan.Date `json:"date"`     // whose windows the slots lie in
	Staff    []Member      `json:"staff"`    // whom slots name
	Sessions []uuid.UUID   `json:"sessions,omitempty"`

	// Each column has one element for each slot, in their order.
	Starts  []int32 `json:"starts"`  // minutes on the clock since the midnight in which Date begins; from 1440 on, on the next date
	Ends    []int32 `json:"ends"`    // minutes on the clock of the date of the end
	Members []int32 `json:"members"` // an index of Staff; -1: the service needs nobody

	// Those of a class alone; empty else.
	SessionOf []int32 `json:"session_of,omitempty"` // an index of Sessions
	Remaining []int32 `json:"remaining,omitempty"`  // places left
}

// Member is a staff member as slots name one.
type Member struct {
	ID   uuid.UUID `json:"id"`
	Name string    `json:"name"`
}

// AppendJSON appends what encoding/json makes of s, without looking at every number by reflection.
func (s *Slots) AppendJSON(b []byte) ([]byte, error) {
	head, err := json.Marshal(struct {
		Computed bool          `json:"computed"`
		Timezone string        `json:"timezone"`
		Date     timespan.Date `json:"date"`
		Staff    []Member      `json:"staff"`
		Sessions []uuid.UUID   `json:"sessions,omitempty"`
	}{s.Computed, s.Timezone, s.Date, s.Staff, s.Sessions})
	if err != nil {
		return nil, err
	}
	b = appendColumn(append(b, head[:len(head)-1]...), "starts", s.Starts)
	b = appendColumn(appendColumn(b, "ends", s.Ends), "members", s.Members)
	if len(s.SessionOf) > 0 {
		b = appendColumn(appendColumn(b, "session_of", s.SessionOf), "remaining", s.Remaining)
	}
	return append(b, '}'), nil
}

func appendColumn(b []byte, name string, column []int32) []byte {
	b = append(append(append(b, `,"`...), name...), `":[`...)
	for i, v := range column {
		if i > 0 {
			b = append(b, ',')
		}
		b = strconv.AppendInt(b, int64(v), 10)
	}
	return append(b, ']')
}

// Check reports what no calendar says, so that a reader may index without looking.
func (s *Slots) Check() error {
	n := len(s.Starts)
	classes := len(s.SessionOf)
	if len(s.Ends) != n || len(s.Members) != n || classes != len(s.Remaining) || classes != 0 && classes != n {
		return errors.New("slots: the columns differ in length")
	}
	return errors.Join(
		within("starts", s.Starts, 0, 2*timespan.MinutesPerDay-1),
		within("ends", s.Ends, 0, timespan.MinutesPerDay),
		within("members", s.Members, -1, len(s.Staff)-1),
		within("session_of", s.SessionOf, 0, len(s.Sessions)-1))
}

func within(name string, column []int32, least, most int) error {
	for _, v := range column {
		if int(v) < least || int(v) > most {
			return fmt.Errorf("slots: %s has %d; it goes from %d to %d", name, v, least, most)
		}
	}
	return nil
}
