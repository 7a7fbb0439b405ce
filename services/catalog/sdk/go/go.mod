module github.com/slotmesh/slotmesh/services/catalog/sdk/go

go 1.25.0
