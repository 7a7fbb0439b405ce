package catalogue_test

import (
	"encoding/json"
	"testing"

	"github.com/slotmesh/slotmesh/libs/contracts/event"
	"github.com/slotmesh/slotmesh/libs/contracts/event/catalogue"
)

func TestEntriesDescribeEveryTypeOnce(t *testing.T) {
	t.Parallel()
	want := append(event.Types(), catalogue.Test)
	entries := catalogue.Entries
	if len(entries) != len(want) {
		t.Fatalf("%d entries for %d types", len(entries), len(want))
	}
	for i, e := range entries {
		if e.Type != want[i] || e.Summary == "" {
			t.Errorf("entry %d is %s %q, want %s", i, e.Type, e.Summary, want[i])
		}
	}
}

func TestPayloadNamesItsTypeAndBusiness(t *testing.T) {
	t.Parallel()
	for _, e := range catalogue.Entries {
		text, err := e.Payload()
		if err != nil {
			t.Fatal(err)
		}
		var got struct {
			Type event.Type
			Data struct {
				Slug     string
				Sequence int
			}
		}
		if err := json.Unmarshal(text, &got); err != nil || got.Type != e.Type || got.Data.Slug != catalogue.Slug ||
			got.Data.Sequence < 1 {
			t.Errorf("%s: %s %v", e.Type, text, err)
		}
	}
}

func TestWebhooksHaveOneOperationAndPayloadForEachType(t *testing.T) {
	t.Parallel()
	for _, hasSchemas := range []bool{false, true} {
		text, err := catalogue.Webhooks(hasSchemas)
		if err != nil {
			t.Fatal(err)
		}
		var got map[event.Type]struct {
			Post struct {
				RequestBody struct {
					Content map[string]struct{ Example struct{ Type event.Type } }
				}
			}
		}
		if err := json.Unmarshal(text, &got); err != nil {
			t.Fatal(err)
		}
		for _, e := range catalogue.Entries {
			if example := got[e.Type].Post.RequestBody.Content["application/json"].Example; example.Type != e.Type {
				t.Errorf("%s has the payload %+v", e.Type, example)
			}
		}
		if len(got) != len(catalogue.Entries) {
			t.Errorf("there are %d operations", len(got))
		}
	}
}
