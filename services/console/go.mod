module github.com/slotmesh/slotmesh/services/console

go 1.26.0

require github.com/slotmesh/slotmesh/libs v0.0.0

replace github.com/slotmesh/slotmesh/libs => ../../libs
