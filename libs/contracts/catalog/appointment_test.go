package catalog_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/contracts/catalog"
	"github.com/slotmesh/slotmesh/libs/values/fault"
)

var (
	cut  = uuid.MustParse("11111111-1111-4111-8111-111111111111")
	wash = uuid.MustParse("22222222-2222-4222-8222-222222222222")
	yoga = uuid.MustParse("33333333-3333-4333-8333-333333333333")
	gone = uuid.MustParse("44444444-4444-4444-8444-444444444444")
	long = uuid.MustParse("55555555-5555-4555-8555-555555555555")
)

func newSalon(t *testing.T) *catalog.Snapshot {
	t.Helper()
	o := &catalog.Snapshot{
		Timezone: "Europe/Lisbon", Currency: "EUR", Modules: catalog.Modules{Services: true},
		Services: []catalog.Service{
			{ID: cut, Active: true, DurationMinutes: 45, Price: 4000,
				Variants: []catalog.Variant{{ID: long, DurationMinutes: 60, Price: 5500}}},
			{ID: wash, Active: true, DurationMinutes: 15},
			{ID: yoga, Active: true, DurationMinutes: 60, Classes: []catalog.ClassSession{{}},
				Variants: []catalog.Variant{{ID: long}}},
			{ID: gone, DurationMinutes: 30},
		},
	}
	if err := o.Prepare(); err != nil {
		t.Fatal(err)
	}
	return o
}

func TestAppointmentUsesVariantDurationAndPrice(t *testing.T) {
	t.Parallel()
	o := newSalon(t)
	services, err := o.Appointment([]uuid.UUID{cut, wash, cut}, map[uuid.UUID]uuid.UUID{cut: long})
	if err != nil {
		t.Fatal(err)
	}
	type shown struct {
		ID       uuid.UUID
		Duration int
		Price    int64
	}
	var got []shown
	for _, s := range services {
		got = append(got, shown{s.ID, s.DurationMinutes, s.Price})
	}
	if diff := cmp.Diff([]shown{{cut, 60, 5500}, {wash, 15, 0}, {cut, 60, 5500}}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if o.Service(cut).DurationMinutes != 45 || o.Service(cut).Price != 4000 {
		t.Error("the offer itself was changed")
	}
}

func TestAppointmentRejectsInvalidSelection(t *testing.T) {
	t.Parallel()
	ids := func(ids ...uuid.UUID) []uuid.UUID { return ids }
	as := func(service, variant uuid.UUID) map[uuid.UUID]uuid.UUID {
		return map[uuid.UUID]uuid.UUID{service: variant}
	}
	off := newSalon(t)
	off.Modules.Services = false
	for name, c := range map[string]struct {
		offer    *catalog.Snapshot
		ids      []uuid.UUID
		variants map[uuid.UUID]uuid.UUID
		kind     fault.Kind
		sentence string
	}{
		"unknown": {newSalon(t), ids(cut, long), nil, fault.ServiceNotFound,
			"Service not found: " + long.String()},
		"inactive": {newSalon(t), ids(gone, cut), nil, fault.ServiceNotFound,
			"Service not found: " + gone.String()},
		"no services at all": {off, ids(cut), nil, fault.ServiceNotFound, "Service not found: " + cut.String()},
		"unknown comes first": {newSalon(t), ids(yoga, long), as(cut, cut), fault.ServiceNotFound,
			"Service not found: " + long.String()},
		"a class among others": {newSalon(t), ids(cut, yoga), nil, fault.InvalidParameter,
			yoga.String() + " is a class"},
		"a class twice": {newSalon(t), ids(yoga, yoga), nil, fault.InvalidParameter,
			yoga.String() + " is a class"},
		"a class's variant": {newSalon(t), ids(yoga), as(yoga, long), fault.InvalidParameter, "variants: "},
		"an unknown variant": {newSalon(t), ids(cut), as(cut, gone), fault.InvalidParameter,
			"has no variant " + gone.String()},
		"another service's": {newSalon(t), ids(wash), as(wash, long), fault.InvalidParameter,
			"has no variant " + long.String()},
		"of no service asked": {newSalon(t), ids(wash), as(cut, long), fault.InvalidParameter,
			cut.String() + " is not asked for"},
	} {
		_, err := c.offer.Appointment(c.ids, c.variants)
		if !fault.Is(err, c.kind) || !strings.Contains(err.Error(), c.sentence) {
			t.Errorf("%s: got %v, want %q", name, err, c.sentence)
		}
	}
}

func TestParseVariantsRejectsInvalidPairs(t *testing.T) {
	t.Parallel()
	pair := cut.String() + ":" + long.String()
	variants, err := catalog.ParseVariants([]string{pair, strings.ToUpper(pair), wash.String() + ":" + long.String()})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[uuid.UUID]uuid.UUID{cut: long, wash: long}, variants); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	for _, bad := range [][]string{
		{""}, {"x"}, {cut.String()}, {pair, ""}, {pair + ":"}, {"{" + cut.String() + "}:" + long.String()},
		{" " + pair},
		{pair, cut.String() + ":" + wash.String()}, strings.Split(strings.Repeat(pair+" ", 20)+pair, " "),
	} {
		if _, err := catalog.ParseVariants(bad); !fault.Is(err, fault.InvalidParameter) ||
			!strings.HasPrefix(fault.Of(err).Sentence, "variants: ") {
			t.Errorf("%q: got %v, want invalid_parameter", bad, err)
		}
	}
}
