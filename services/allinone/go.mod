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

require (
	github.com/alicebob/miniredis/v2 v2.40.0 // indirect
	github.com/andybalholm/brotli v1.2.6 // indirect
	github.com/cespare/xxhash/v2 v2.3.0 // indirect
	github.com/fergusstrange/embedded-postgres v1.34.0 // indirect
	github.com/go-logr/logr v1.4.4 // indirect
	github.com/go-logr/stdr v1.2.2 // indirect
	github.com/gofiber/fiber/v2 v2.52.15 // indirect
	github.com/google/go-cmp v0.7.0 // indirect
	github.com/google/uuid v1.6.0 // indirect
	github.com/jackc/pgpassfile v1.0.0 // indirect
	github.com/jackc/pgservicefile v0.0.0-20240606120523-5a60cdf6a761 // indirect
	github.com/jackc/pgx/v5 v5.12.0 // indirect
	github.com/klauspost/compress v1.20.1 // indirect
	github.com/lib/pq v1.10.9 // indirect
	github.com/mattn/go-colorable v0.1.13 // indirect
	github.com/mattn/go-isatty v0.0.24 // indirect
	github.com/mattn/go-runewidth v0.0.16 // indirect
	github.com/redis/go-redis/v9 v9.23.0 // indirect
	github.com/rivo/uniseg v0.2.0 // indirect
	github.com/valyala/bytebufferpool v1.0.0 // indirect
	github.com/valyala/fasthttp v1.51.0 // indirect
	github.com/valyala/tcplisten v1.0.0 // indirect
	github.com/xi2/xz v0.0.0-20171230120015-48954b6210f8 // indirect
	github.com/yuin/gopher-lua v1.1.1 // indirect
	go.opentelemetry.io/auto/sdk v1.2.1 // indirect
	go.opentelemetry.io/otel v1.47.0 // indirect
	go.opentelemetry.io/otel/log v1.47.0 // indirect
	go.opentelemetry.io/otel/metric v1.47.0 // indirect
	go.opentelemetry.io/otel/trace v1.47.0 // indirect
	go.uber.org/atomic v1.12.0 // indirect
	go.uber.org/goleak v1.3.0 // indirect
	golang.org/x/sync v0.24.0 // indirect
	golang.org/x/sys v0.49.0 // indirect
	golang.org/x/text v0.43.0 // indirect
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
