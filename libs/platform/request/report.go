package request

import "github.com/slotmesh/slotmesh/libs/values/report"

// Report reads the parameters of a report: the dates from and to,
// and by, which is week by default. Faults: invalid_parameter.
func (q Query) Report() (report.Query, error) {
	from, to, err := q.Dates("from", "to")
	if err != nil {
		return report.Query{}, err
	}
	by, err := q.Text("by")
	if err != nil {
		return report.Query{}, err
	}
	query := report.Query{From: from, To: to, By: report.By(by)}
	if query.By == "" {
		query.By = report.Week
	}
	return query, query.Check()
}

// Report is a group of the query parameters of a report.
type Report struct{ report.Query }

// ReadQuery is [Query.Report].
func (r *Report) ReadQuery(q Query) error {
	asked, err := q.Report()
	r.Query = asked
	return err
}
