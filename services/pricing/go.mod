module github.com/slotmesh/slotmesh/services/pricing

go 1.26.0

require (
	github.com/google/go-cmp v0.7.0
	github.com/google/uuid v1.6.0
	github.com/shopspring/decimal v1.6.0
	github.com/slotmesh/slotmesh/libs v0.0.0
	pgregory.net/rapid v1.3.0
)

replace github.com/slotmesh/slotmesh/libs => ../../libs
