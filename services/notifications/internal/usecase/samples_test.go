package usecase_test

import (
	"strings"
	"testing"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/contracts/notifications"
	"github.com/slotmesh/slotmesh/libs/values/fault"
	"github.com/slotmesh/slotmesh/services/notifications/internal/usecase"
)

// TestSamplesRefuseUnknownPlaceholder shows that neither a preview nor a test message prints a mistyped placeholder.
// The refusal names the placeholder.
func TestSamplesRefuseUnknownPlaceholder(t *testing.T) {
	t.Parallel()
	intro := "Dear {name},"
	sample := notifications.SampleMessage{Kind: "reminder", Intro: &intro}
	_, previewErr := new(usecase.Samples).Preview(t.Context(), uuid.New(), sample)
	_, sendErr := new(usecase.Samples).SendTest(t.Context(), uuid.New(),
		notifications.TestMessage{SampleMessage: sample, To: "ana@example.com"})
	for _, err := range []error{previewErr, sendErr} {
		if !fault.Is(err, fault.InvalidParameter) || !strings.Contains(err.Error(), `"{name}"`) {
			t.Error(err)
		}
	}
}
