package api

import (
	"context"

	"github.com/slotmesh/slotmesh/libs/contracts/bookingclient"
	"github.com/slotmesh/slotmesh/libs/contracts/customer"
	"github.com/slotmesh/slotmesh/libs/contracts/endpoints"
	"github.com/slotmesh/slotmesh/libs/values/fault"
)

func (in *Internal) changeCustomer(ctx context.Context,
	r bookingclient.With[customer.Change]) (*customer.Written, error) {
	if err := r.Body.Normalize(); err != nil {
		return nil, err
	}
	written, err := in.records.ChangeCustomer(ctx, r.At.Business, r.Body, in.clock.Now())
	return &written, err
}

func (in *Internal) mergeCustomers(ctx context.Context,
	r bookingclient.With[customer.MergeRequest]) (*customer.Written, error) {
	for _, address := range []string{r.Body.Into, r.Body.From} {
		if _, err := customer.CheckAddress(address); err != nil {
			return nil, err
		}
	}
	written, err := in.records.MergeCustomers(ctx, r.At.Business, r.Body, in.clock.Now())
	return &written, err
}

func (in *Internal) separateCustomers(ctx context.Context,
	r bookingclient.With[customer.Separate]) (*customer.Written, error) {
	if _, err := customer.CheckAddress(r.Body.Customer); err != nil {
		return nil, err
	}
	written, err := in.records.SeparateCustomers(ctx, r.At.Business, r.Body, in.clock.Now())
	return &written, err
}

func (in *Internal) removeCustomerRecord(ctx context.Context,
	r bookingclient.With[customer.RecordRemoval]) (*customer.Removed, error) {
	of := customer.Of{Addresses: r.Body.Addresses}
	keys, err := of.Keys()
	if err != nil {
		return nil, err
	}
	removed, err := in.records.RemoveCustomerRecords(ctx, r.At.Business, keys, r.Body.KeepsAddresses, in.clock.Now())
	return &removed, err
}

// importCustomers makes records of the rows. Console has read the rows from a file and has left out invalid ones; a row
// that is invalid here fails the whole import.
func (in *Internal) importCustomers(ctx context.Context,
	r bookingclient.With[customer.Import]) (*customer.Imported, error) {
	if len(r.Body.Rows) > customer.MaxImported {
		return nil, fault.Newf(fault.InvalidParameter, "rows: send at most %d.", customer.MaxImported)
	}
	for i := range r.Body.Rows {
		if err := r.Body.Rows[i].Normalize(); err != nil {
			return nil, err
		}
	}
	imported, err := in.records.ImportCustomers(ctx, r.At.Business, r.Body, in.clock.Now())
	return &imported, err
}

func (in *Internal) listCustomerImports(ctx context.Context, r endpoints.OfBusiness) (*customer.ImportList, error) {
	imports, err := in.records.CustomerImports(ctx, r.Business)
	if imports == nil {
		imports = []customer.ImportEntry{}
	}
	return &customer.ImportList{Imports: imports}, err
}

func (in *Internal) undoCustomerImport(ctx context.Context,
	r bookingclient.With[customer.UndoImport]) (*customer.Removed, error) {
	removed, err := in.records.UndoCustomerImport(ctx, r.At.Business, r.Body.ID, in.clock.Now())
	return &removed, err
}
