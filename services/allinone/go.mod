module github.com/slotmesh/slotmesh/services/allinone

go 1.26.0

require (
	github.com/slotmesh/slotmesh/libs v0.0.0
	github.com/slotmesh/slotmesh/services/availability v0.0.0
	github.com/slotmesh/slotmesh/services/booking v0.0.0
	github.com/slotmesh/slotmesh/services/catalog v0.0.0
	github.com/slotmesh/slotmesh/services/console v0.0.0
	github.com/slotmesh/slotmesh/services/mcp v0.0.0
	github.com/slotmesh/slotmesh/services/pricing v0.0.0
	github.com/slotmesh/slotmesh/services/rental v0.0.0
)

replace (
	github.com/slotmesh/slotmesh/libs => ../../libs
	github.com/slotmesh/slotmesh/services/availability => ../availability
	github.com/slotmesh/slotmesh/services/booking => ../booking
	github.com/slotmesh/slotmesh/services/catalog => ../catalog
	github.com/slotmesh/slotmesh/services/console => ../console
	github.com/slotmesh/slotmesh/services/mcp => ../mcp
	github.com/slotmesh/slotmesh/services/pricing => ../pricing
	github.com/slotmesh/slotmesh/services/rental => ../rental
)
