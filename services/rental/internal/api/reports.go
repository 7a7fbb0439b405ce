package api

import (
	"context"

	"github.com/slotmesh/slotmesh/libs/contracts/rental"
	"github.com/slotmesh/slotmesh/libs/values/report"
)

func (in *Internal) serveRevenueReport(ctx context.Context, r rental.ReportRequest) (*report.Revenue, error) {
	offer, err := in.findBusiness(ctx, r.OfSlug)
	if err != nil {
		return nil, err
	}
	rows, err := in.records.RevenueReport(ctx, offer.ID, r.Query, offer.Currency)
	if err != nil {
		return nil, err
	}
	return &report.Revenue{Rows: rows}, nil
}
