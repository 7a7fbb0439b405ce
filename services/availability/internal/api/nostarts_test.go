package api

import (
	"net/http"
	"net/url"
	"testing"
)

func TestNoStartsReportsRuleForEachDate(t *testing.T) {
	t.Parallel()
	s := startService(t, nil)
	ask := func(base string, query url.Values) reply {
		answer, err := http.Get(base + "/api/public/harbor/no-starts?" + query.Encode())
		if err != nil {
			t.Fatal(err)
		}
		return readReply(t, answer)
	}
	window := url.Values{"service_id": {haircut.String()}, "start": {"2027-02-28"}, "end": {"2027-03-01"}}
	ask(s.internal+"/internal", window).expect(t, 200, `{"rules": {"2027-02-28": "past", "2027-03-01": "booking"}}`)
	window.Set("start", "2027-03-31")
	window.Set("end", "2027-04-01")
	ask(s.internal+"/internal", window).expect(t, 200,
		`{"rules": {"2027-03-31": "booking", "2027-04-01": "advance_limit"}}`)
	if got := ask(s.public, window); got.status != 404 {
		t.Errorf("the public port allows it: %d %s", got.status, got.body)
	}
	window.Del("end")
	if got := ask(s.internal+"/internal", window); got.status != 400 {
		t.Errorf("a window without end: %d %s", got.status, got.body)
	}
}
