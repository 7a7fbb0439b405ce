package pages

import (
	"net/url"
	"testing"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/contracts/booking"
	"github.com/slotmesh/slotmesh/libs/values/fault"
	"github.com/slotmesh/slotmesh/libs/values/message/words"
	"github.com/slotmesh/slotmesh/libs/values/postal"
	"github.com/slotmesh/slotmesh/services/console/internal/pages/texts"
	"github.com/slotmesh/slotmesh/services/console/internal/pages/view"
)

// TestBookingFormReadsPlace shows that the preselected country alone is no address.
func TestBookingFormReadsPlace(t *testing.T) {
	t.Parallel()
	form := url.Values{"location": {"id"}, "country": {"PT"}, "street": {" "}}
	if b := parseBooking(form); b.Location != "id" || b.Address != (booking.CustomerAddress{}) {
		t.Errorf("%+v", b)
	}
	form.Set("street", "Rua 1 ")
	want := booking.CustomerAddress{Address: postal.Address{Street: "Rua 1", Country: "PT"}}
	if b := parseBooking(form); b.Address != want {
		t.Errorf("%+v", b.Address)
	}
}

// TestRescheduleFormSendsChangedPlaceOnly shows that a form with the location and the address of the booking requests
// no other place.
func TestRescheduleFormSendsChangedPlaceOnly(t *testing.T) {
	t.Parallel()
	id := uuid.New()
	address := booking.CustomerAddress{Address: postal.Address{Street: "Rua 1", City: "Porto"}}
	b := booking.Booking{Location: &booking.BookedLocation{ID: id}, CustomerAddress: &address}
	same := newReschedule(view.RescheduleForm{Booking: b, Location: id.String(), Address: address})
	if same.LocationID != nil || same.Address != nil {
		t.Errorf("%+v", same)
	}
	other := address
	other.Street = "Rua 2"
	changed := newReschedule(view.RescheduleForm{Booking: b, Location: uuid.NewString(), Address: other})
	if changed.LocationID == nil || changed.Address == nil || *changed.Address != other {
		t.Errorf("%+v", changed)
	}
	if empty := newReschedule(view.RescheduleForm{Booking: b}); empty.LocationID != nil || empty.Address != nil {
		t.Errorf("%+v", empty)
	}
}

// TestRefusedFormMarksPlace shows which input of a refused form has an error.
func TestRefusedFormMarksPlace(t *testing.T) {
	t.Parallel()
	all, err := texts.Load()
	if err != nil {
		t.Fatal(err)
	}
	page := &view.Page{Words: words.In(all, "en")}
	for input, refusal := range map[string]error{
		"street":      fault.New(fault.InvalidParameter, "customer_address: send an object."),
		"country":     fault.New(fault.InvalidParameter, "customer_address.country: is missing."),
		"city":        fault.New(fault.InvalidParameter, "address.city: is missing."),
		"postal_code": fault.New(fault.OutsideArea, "The business does not come to this address."),
		"location":    fault.New(fault.LocationNotFound, "Location not found."),
	} {
		var fieldErrors map[string]string
		status, ok := prepareRefusedForm(page, refusal, &fieldErrors)
		if !ok || status != fault.KindOf(refusal).Status || len(fieldErrors) != 1 || fieldErrors[input] == "" {
			t.Errorf("%s: %d %v %v", input, status, ok, fieldErrors)
		}
		if fault.Is(refusal, fault.OutsideArea) && fieldErrors[input] != "This address is outside your service area." {
			t.Errorf("an address outside the area: %q", fieldErrors[input])
		}
	}
}

// TestSampleOmitsEmptyTranslation shows that an empty translation is no text of a sample, because the mail then has the
// text in the default language.
func TestSampleOmitsEmptyTranslation(t *testing.T) {
	t.Parallel()
	for language, isSent := range map[string]bool{"en": true, "pt": false} {
		w := view.MessageWords{Kind: "reminder", Language: language, Default: "en"}
		posted := url.Values{w.InputName("intros"): {" "}, w.InputName("notes"): {"Towel"}}
		if sample := newSample(w, posted); (sample.Intro != nil) != isSent || sample.Note == nil || *sample.Note != "Towel" {
			t.Errorf("%s: %+v", language, sample)
		}
	}
}
