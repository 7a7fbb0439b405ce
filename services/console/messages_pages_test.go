package console_test

import (
	"strings"
	"testing"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/services/console/internal/consoletest"
	"github.com/slotmesh/slotmesh/services/console/internal/identity/access"
)

func init() {
	rowOfPage["GET /business/:slug/messages"] = "see customers"
	rowOfPage["GET /business/:slug/messages/:id"] = "see customers"
	rowOfPage["POST /business/:slug/messages/:id/retry"] = "book, move, cancel, sell"
}

// TestMessagesPageListsShowsAndRetries shows that the page lists messages by the filter in its address, opens a message
// and sends a failed one again. A second press of the button reports that the message has changed.
func TestMessagesPageListsShowsAndRetries(t *testing.T) {
	t.Parallel()
	w := consoletest.Start(t)
	id := publish(t, w)
	mailed := w.Notifications.ReplaceMessages(id, 2)
	desk := w.AddSession(t, "desk@example.com", access.Member{BusinessID: id, Role: access.FrontDesk})
	const all = "/business/harbor/messages"
	for query, want := range map[string]int{
		"": 2, "?status=failed": 1, "?status=sent&kind=booking_confirmed": 1, "?kind=reminder": 0,
		"?about=" + mailed[1].About.ID.String(): 1, "?about=" + uuid.NewString(): 0,
	} {
		got := getPage(t, w, all+query, desk)
		if n := strings.Count(got.Body, `class="cover"`); got.Status != 200 || n != want || strings.Contains(got.Body,
			"zoe@example.com") != (want > 0) {
			t.Errorf("%q: %d, %d listed: %s", query, got.Status, n, got.Body)
		}
	}
	for _, query := range []string{"?status=lost", "?about=1"} {
		if got := getPage(t, w, all+query, desk); got.Status != 400 {
			t.Errorf("%s: %d", query, got.Status)
		}
	}
	failed, sent := all+"/"+mailed[0].ID.String(), all+"/"+mailed[1].ID.String()
	retry := failed[len("/business/harbor/"):] + "/retry"
	got := getPage(t, w, failed, desk)
	for _, want := range []string{"550 No such user", "Hello Zoë,", "/bookings/" + mailed[0].About.ID.String(), retry} {
		if !strings.Contains(got.Body, want) {
			t.Errorf("no %s: %d %s", want, got.Status, got.Body)
		}
	}
	if got := getPage(t, w, sent, desk); got.Status != 200 || strings.Contains(got.Body, "/retry") {
		t.Errorf("the page of a sent message offers to send it again: %d %s", got.Status, got.Body)
	}
	if got := getPage(t, w, all+"/"+uuid.NewString(), desk); got.Status != 404 {
		t.Errorf("an unknown message: %d", got.Status)
	}
	for _, want := range []string{"done=message_again", "wrong=changed"} {
		if got := pressButton(t, w, failed+"/retry", desk); got.Status != 303 ||
			!strings.Contains(got.Header.Get("Location"),
				want) {
			t.Errorf("%s: %d %s", want, got.Status, got.Header.Get("Location"))
		}
	}
}
