package tools

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/google/uuid"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"golang.org/x/sync/errgroup"

	"github.com/slotmesh/slotmesh/libs/contracts/publicapi"
	"github.com/slotmesh/slotmesh/libs/platform/request"
	"github.com/slotmesh/slotmesh/libs/values/fault"
	"github.com/slotmesh/slotmesh/libs/values/timespan"
	"github.com/slotmesh/slotmesh/services/mcp/internal/caller"
)

// calendar is the answer of find_slots. It contains Slots if the agent
// asked for one date, and Days if the agent asked for a window of dates.
type calendar struct {
	Timezone   string `json:"timezone" jsonschema:"IANA name of the zone that all dates and times are in"`
	Paused     bool   `json:"online_bookings_paused" jsonschema:"true: nothing can be booked now; book_appointment is refused"`
	Computed   bool   `json:"computed" jsonschema:"false: availability could not be read just now. That is not the same as fully booked; call again shortly"`
	Slots      []slot `json:"slots" jsonschema:"with date: the free starts, in order; else empty"`
	Days       []day  `json:"days" jsonschema:"with start_date and end_date: the number of free starts of each bookable date; else empty"`
	Total      int    `json:"total" jsonschema:"how many slots there are, on all pages, or in the window"`
	NextOffset *int   `json:"next_offset" jsonschema:"offset of the next page of slots; null on the last"`
	Reason     string `json:"reason,omitempty" jsonschema:"only if nothing is free: past, closed, sold_out, beyond_advance_limit, too_soon, no_session or not_performed; left out if the dates of a window have different reasons"`
	NextDate   string `json:"next_date,omitempty" jsonschema:"only if nothing is free: the next date with a free start, if there is one within 62 days"`
}

// slot is a [publicapi.Slot] with the field names of the tools.
type slot struct {
	Date      timespan.Date      `json:"date" jsonschema:"the date that book_appointment takes for this start"`
	Time      timespan.TimeOfDay `json:"time" jsonschema:"HH:MM, the time that book_appointment takes"`
	EndTime   timespan.TimeOfDay `json:"end_time"`
	StaffID   *uuid.UUID         `json:"staff_id" jsonschema:"who is free; null where the service needs nobody"`
	StaffName *string            `json:"staff_name"`

	// The fields below are only for class sessions.
	RemainingCapacity *int       `json:"remaining_capacity,omitempty" jsonschema:"only of a class: how many places are left, which party_size of book_appointment may take"`
	ClassScheduleID   *uuid.UUID `json:"class_schedule_id,omitempty" jsonschema:"only of a class: the session; book_appointment needs it where two begin together"`
}

type day struct {
	Date    timespan.Date `json:"date"`
	Weekday string        `json:"weekday" jsonschema:"Mon to Sun"`
	Count   int           `json:"count" jsonschema:"0: checked, and nothing is free"`
}

// maxServices is the maximum number of services of one appointment (interface.md §8).
const maxServices = 20

func (b *Toolbox) slotsTool() *tool {
	return &tool{
		Tool: mcp.Tool{
			Name:  "find_slots",
			Title: "Free times",
			Description: "When one or several services can be booked. Call list_services first for the ids. With " +
				"date: every free start of that date, each with the staff member who is free then. With start_date " +
				"and end_date (at most 62 days, both included): how many free starts each date has; then ask for one " +
				"of the dates. Several service_ids are one appointment, one after another, by one staff member; " +
				"is_package and staffing_mode combine them otherwise, variants chooses other lengths. A class is " +
				"asked for alone: its sessions are listed, with the places that are left. All dates and times are " +
				"local time of the business's time zone. While the business has paused online bookings the answer " +
				"says so: nothing can be booked then.",
			InputSchema:  slotsSchema(),
			OutputSchema: outputSchema[calendar](),
			Annotations:  readAnnotations("Free times"),
		},
		scopes: readScopes,
		call:   b.findSlots,
	}
}

func slotsSchema() *jsonschema.Schema {
	properties := append([]property{
		requiredProperty("service_ids",
			idsSchema("Ids from list_services, in the order in which the services are performed.",
				maxServices)),
		optionalProperty("date", dateSchema("One date. Send either this, or start_date and end_date.")),
		optionalProperty("start_date", dateSchema("First date of a window.")),
		optionalProperty("end_date", dateSchema("Last date of a window, at most 62 days with both ends.")),
		optionalProperty("from_time", clockSchema("With date: no start before this time.")),
		optionalProperty("to_time",
			clockSchema("With date: no start after this time; one before from_time is after midnight.")),
		optionalProperty("staff_id", idSchema("Only this staff member: an id from list_staff.")),
		optionalProperty("location_id", idSchema("Only at this location: an id from the locations of get_business_info. "+
			"Left out: at any location of the services.")),
	}, combinedProperties()...)
	return inputSchema(append(properties, offsetProperty())...)
}

func (b *Toolbox) findSlots(ctx context.Context, who caller.Caller, args arguments) (result, error) {
	query, err := calendarQuery(args)
	if err != nil {
		return result{}, err
	}
	offset, err := args.offset()
	if err != nil {
		return result{}, err
	}
	hours, err := args.timeRange()
	if err != nil {
		return result{}, err
	}
	if hours.isGiven && !query.Has("date") {
		return result{}, request.Invalid("from_time, to_time: they go with date; a window counts whole dates.")
	}
	isPaused := b.pauseReader(ctx, who.Slug)
	defer isPaused() // waits, so that the request to catalog ends before the tool call
	if query.Has("date") {
		return b.findOnDate(ctx, who, query, hours, offset, isPaused)
	}
	return b.findInWindow(ctx, who, query, isPaused)
}

// pauseReader starts a request to catalog. The function that pauseReader returns waits for the
// answer. It reports whether the business has paused online bookings or is not open yet. The
// request runs at the same time as other requests. If the request fails, the function returns
// false. The result false is safe, because booking also refuses a booking during a pause.
func (b *Toolbox) pauseReader(ctx context.Context, slug string) func() bool {
	info := publicapi.BusinessInfo{Open: true} // older versions of catalog do not send the field open
	var asked errgroup.Group
	asked.Go(func() error {
		return fault.Guard(func() error { return b.Catalog.Read(ctx, slug, "info", nil, &info) })
	})
	return func() bool { return asked.Wait() == nil && (info.OnlineBookingsPaused || !info.Open) }
}

// next returns a text with the free times. If bookings are paused, the text begins with the sentence about
// the pause. Otherwise it ends with the sentence in the argument `tool`, which names the tool to call next.
func (c *calendar) next(times, tool string) string {
	if c.Paused {
		return paused + "\n" + times
	}
	return times + tool
}

// calendarQuery returns the arguments of find_slots as query parameters of /slots or /available-dates.
func calendarQuery(args arguments) (url.Values, error) {
	ids, err := args.ids("service_ids", maxServices)
	if err != nil {
		return nil, err
	}
	query := url.Values{"service_id": {strings.Join(ids, ",")}}
	if err := cmp.Or(
		args.addCombined(query), copyArgument(query, "date", args.date, "date"),
		copyArgument(query, "start", args.date, "start_date"),
		copyArgument(query, "end", args.date, "end_date"), copyArgument(query, "staff_id", args.id, "staff_id"),
		copyArgument(query, "location_id", args.id, "location_id"),
	); err != nil {
		return nil, err
	}
	if one, window := query.Has("date"), query.Has("start") || query.Has("end"); one == window {
		return nil, request.Invalid("date: send either date, or both start_date and end_date.")
	}
	if !query.Has("date") && (!query.Has("start") || !query.Has("end")) {
		return nil, request.Invalid("start_date: a window needs both start_date and end_date.")
	}
	return query, nil
}

// dateOf returns the query parameter date. The caller must have checked that it is valid.
func dateOf(query url.Values) timespan.Date {
	d, _ := timespan.ParseDate(query.Get("date"))
	return d
}

func (b *Toolbox) findOnDate(ctx context.Context, who caller.Caller, query url.Values, hours timeRange, offset int,
	isPaused func() bool) (result, error) {
	shown, err := b.readSlots(ctx, who.Slug, query)
	if err != nil {
		return result{}, err
	}
	if !shown.Computed {
		return result{structured: shown, text: unknown}, nil
	}
	all := shown.Total
	shown.Slots = hours.filter(shown.Slots, dateOf(query))
	shown.Total = len(shown.Slots)
	free := newTimesText(shown.Slots, offset, dateOf(query))
	if shown.Total == 0 && all > 0 {
		free.head = fmt.Sprintf("; at other times of that date %d are free.", all)
	} else if shown.Total == 0 {
		why := b.explainNoStart(ctx, who.Slug, shown.Timezone, query)
		free.head, shown.Reason, shown.NextDate = "."+why.text, why.reason, why.nextDate
	}
	p := pageOf(shown.Slots, offset, 0)
	shown.Slots, shown.NextOffset, shown.Paused = p.items, p.next, isPaused()
	text := fmt.Sprintf("%d free starts on %s%s (%s)%s", shown.Total, withWeekday(query.Get("date")), hours,
		shown.Timezone, free.head)
	return result{structured: shown, text: shown.next(text, free.next) + free.times}, nil
}

// readSlots reads all free slots of a date.
func (b *Toolbox) readSlots(ctx context.Context, slug string, query url.Values) (calendar, error) {
	var listed publicapi.SlotList
	if err := b.Availability.Read(ctx, slug, "slots", query, &listed); err != nil {
		return calendar{}, err
	}
	c := calendar{
		Timezone: listed.Timezone, Computed: listed.Computed, Slots: make([]slot, len(listed.Slots)), Days: []day{},
		Total: len(listed.Slots),
	}
	for i, of := range listed.Slots {
		if of.StaffName != nil {
			*of.StaffName = clipText(*of.StaffName, maxName)
		}
		c.Slots[i] = slot{of.Date, of.Time, of.EndTime, of.StaffID, of.StaffName, of.RemainingCapacity,
			of.ClassScheduleID}
	}
	return c, nil
}

const unknown = "Availability could not be read just now. That does not mean fully booked: call again in a few seconds."

func (b *Toolbox) findInWindow(ctx context.Context, who caller.Caller, query url.Values,
	isPaused func() bool) (result, error) {
	var dates publicapi.AvailableDates
	if err := b.Availability.Read(ctx, who.Slug, "available-dates", query, &dates); err != nil {
		return result{}, err
	}
	shown := calendar{Timezone: dates.Timezone, Computed: dates.Computed, Slots: []slot{}, Days: []day{}}
	if !shown.Computed {
		return result{structured: shown, text: unknown}, nil
	}
	var lines strings.Builder
	for _, date := range slices.Sorted(maps.Keys(dates.Days)) {
		count := dates.Days[date]
		shown.Days = append(shown.Days, day{date, withWeekday(date.String())[:3], count})
		shown.Total += count
		if count > 0 {
			fmt.Fprintf(&lines, "\n%s: %d", withWeekday(date.String()), count)
		}
	}
	shown.Paused = isPaused()
	text := fmt.Sprintf("%d free starts from %s to %s (%s).", shown.Total, withWeekday(query.Get("start")),
		withWeekday(query.Get("end")), shown.Timezone)
	next := b.firstStart(ctx, who.Slug, query, findFirstFree(dates.Days)) +
		" Next: find_slots with one of these dates as date."
	if shown.Total == 0 {
		why := b.explainNoStart(ctx, who.Slug, shown.Timezone, query)
		next, shown.Reason, shown.NextDate = why.text, why.reason, why.nextDate
	}
	return result{structured: shown, text: shown.next(text, next) + lines.String()}, nil
}

// firstStart returns a sentence with the first free start on a date. It returns "" if the date is ""
// or the starts cannot be read. The argument `window` contains the other parameters of the request.
func (b *Toolbox) firstStart(ctx context.Context, slug string, window url.Values, date string) string {
	query := maps.Clone(window)
	query.Del("start")
	query.Del("end")
	query.Set("date", date)
	if date == "" {
		return ""
	}
	free, err := b.readSlots(ctx, slug, query)
	if err != nil || !free.Computed || len(free.Slots) == 0 {
		return ""
	}
	return " The first is" + strings.Replace(free.Slots[0].line(), "\n", " ", 1) + "."
}
