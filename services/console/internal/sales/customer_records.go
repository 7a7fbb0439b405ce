package sales

import (
	"context"
	"log/slog"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/contracts/customer"
	"github.com/slotmesh/slotmesh/services/console/internal/peers"
	"github.com/slotmesh/slotmesh/services/console/internal/sales/customerfile"
)

// ChangeCustomer writes about a customer. Faults: invalid_parameter; conflict if another customer has one of the
// addresses.
func (o *UseCases) ChangeCustomer(ctx context.Context, by peers.Principal, slug string,
	change customer.Change) (*customer.Written, error) {
	return changeCustomers(ctx, o, by, slug, "write about customer",
		func(ctx context.Context, businessID uuid.UUID) (*customer.Written, error) {
			return o.Bookings.ChangeCustomer(ctx, businessID, change)
		})
}

// MergeCustomers makes two customers one. Faults: invalid_parameter; conflict if they are one already.
func (o *UseCases) MergeCustomers(ctx context.Context, by peers.Principal, slug string,
	merge customer.MergeRequest) (*customer.Written, error) {
	return changeCustomers(ctx, o, by, slug, "merge customers",
		func(ctx context.Context, businessID uuid.UUID) (*customer.Written, error) {
			return o.Bookings.MergeCustomers(ctx, businessID, merge)
		})
}

// SeparateCustomers undoes a merge. Fault: not_found.
func (o *UseCases) SeparateCustomers(ctx context.Context, by peers.Principal, slug string,
	separate customer.Separate) (*customer.Written, error) {
	return changeCustomers(ctx, o, by, slug, "separate customers",
		func(ctx context.Context, businessID uuid.UUID) (*customer.Written, error) {
			return o.Bookings.SeparateCustomers(ctx, businessID, separate)
		})
}

// UndoCustomerImport removes the records of an import that were not changed later. Fault: not_found.
func (o *UseCases) UndoCustomerImport(ctx context.Context, by peers.Principal, slug string,
	id uuid.UUID) (*customer.Removed, error) {
	return changeCustomers(ctx, o, by, slug, "undo import of customers",
		func(ctx context.Context, businessID uuid.UUID) (*customer.Removed, error) {
			return o.Bookings.UndoCustomerImport(ctx, businessID, customer.UndoImport{ID: id})
		})
}

// ListCustomerImports returns the newest imports of a business.
func (o *UseCases) ListCustomerImports(ctx context.Context, slug string) (*customer.ImportList, error) {
	business, err := o.FindBusiness(ctx, slug)
	if err != nil {
		return nil, err
	}
	return o.Bookings.CustomerImports(ctx, business.ID)
}

func changeCustomers[T any](ctx context.Context, o *UseCases, by peers.Principal, slug, change string,
	do func(context.Context, uuid.UUID) (*T, error)) (*T, error) {
	business, err := o.FindBusiness(ctx, slug)
	if err != nil {
		return nil, err
	}
	result, err := do(ctx, business.ID)
	if err != nil {
		return nil, err
	}
	o.LogChange(ctx, by, change, slug)
	return result, nil
}

// CustomerImport is the result of an import of customers from a file, or of a dry run.
type CustomerImport struct {
	ID        *uuid.UUID             `json:"id"` // null after a dry run, and if nothing was new
	DryRun    bool                   `json:"dry_run"`
	Head      []string               `json:"head"`    // first line of the file
	Columns   []customerfile.Column  `json:"columns"` // what each column of the file is
	Added     int                    `json:"added"`
	Duplicate []int                  `json:"duplicate"` // lines of customers who have a record already
	Invalid   []customerfile.Problem `json:"invalid"`   // lines that are left out
	Preview   []customer.Row         `json:"preview"`   // the first valid rows
}

// maxPreview is the number of rows that a preview of an import shows.
const maxPreview = 5

// ImportCustomers makes records of the customers in a CSV file, or with `isDry` only counts them. A customer who has a
// record keeps it unchanged, so that an import can be repeated. No customer is notified. The argument `columns` has the
// kind of each column; nil guesses the kinds from the first line. Fault: invalid_parameter for a file that cannot be read.
func (o *UseCases) ImportCustomers(ctx context.Context, by peers.Principal, slug string, file []byte,
	columns []customerfile.Column, isDry bool) (*CustomerImport, error) {
	table, err := customerfile.Parse(file)
	if err != nil {
		return nil, err
	}
	if columns == nil {
		columns = table.Guess()
	}
	rows, problems, err := table.Read(columns)
	if err != nil {
		return nil, err
	}
	business, err := o.FindBusiness(ctx, slug)
	if err != nil {
		return nil, err
	}
	imported, err := o.Bookings.ImportCustomers(ctx, business.ID, customer.Import{Rows: rows, DryRun: isDry})
	if err != nil {
		return nil, err
	}
	if !isDry {
		o.LogChange(ctx, by, "import customers", slug, slog.Int("customers", imported.Added))
	}
	return &CustomerImport{ID: imported.ID, DryRun: isDry, Head: table.Head, Columns: columns, Added: imported.Added,
		Duplicate: imported.Duplicate, Invalid: problems, Preview: rows[:min(len(rows), maxPreview)]}, nil
}
