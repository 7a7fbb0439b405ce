package request_test

import (
	"testing"

	"github.com/slotmesh/slotmesh/libs/platform/request"
	"github.com/slotmesh/slotmesh/libs/values/report"
)

func TestReportReadsWrittenQuery(t *testing.T) {
	t.Parallel()
	read := func(values map[string][]string) (report.Query, error) {
		return request.Query(func(name string) []string { return values[name] }).Report()
	}
	q, err := read(map[string][]string{"from": {"2027-01-01"}, "to": {"2027-12-31"}})
	if err != nil || q.By != report.Week {
		t.Fatalf("%+v, %v", q, err)
	}
	if again, err := read(q.Values()); err != nil || again != q {
		t.Errorf("%+v becomes %+v, %v", q, again, err)
	}
	for _, wrong := range []map[string][]string{
		{"from": {"2027-01-01"}}, {"from": {"2027-01-02"}, "to": {"2027-01-01"}},
		{"from": {"2027-01-01"}, "to": {"2030-01-01"}, "by": {"day"}}, {"from": {"2027-01-01"}, "to": {"2027-01-01"},
			"by": {"year"}},
	} {
		if _, err := read(wrong); err == nil {
			t.Errorf("%v is taken", wrong)
		}
	}
}
