package request

import "github.com/slotmesh/slotmesh/libs/values/report"

// Report reads the query parameters of a report: the dates `from` and `to`, and the length of the periods, `by`. The
// default of `by` is "week". Fault: invalid_parameter.
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
	location, err := q.OptionalID("default_location")
	if err != nil {
		return report.Query{}, err
	}
	if location != nil {
		query.DefaultLocation = *location
	}
	if query.By == "" {
		query.By = report.Week
	}
	return query, query.Check()
}

// Report holds the query parameters of a report.
type Report struct{ report.Query }

// ReadQuery reads the parameters as [Query.Report] does.
func (r *Report) ReadQuery(q Query) error {
	asked, err := q.Report()
	r.Query = asked
	return err
}
