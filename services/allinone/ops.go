package allinone

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	dto "github.com/prometheus/client_model/go"
	"google.golang.org/protobuf/proto"

	"github.com/slotmesh/slotmesh/libs/platform/build"
	"github.com/slotmesh/slotmesh/libs/values/zone"
)

// serviceLabel is the label that contains the service's name in the metrics of OPS_PORT.
const serviceLabel = "service"

// openOps serves the readiness and the metrics of all services at OPS_PORT, if this port is set. openOps listens before
// the services start, so that an error about an occupied port is reported at once. Until all services are ready, it
// answers "not ready".
func (p *Process) openOps(ctx context.Context) error {
	if p.cfg.OpsPort == 0 {
		return nil
	}
	listener, err := listen(ctx, portSetting{"OPS_PORT", p.cfg.OpsPort, p.cfg.OpsHost})
	if err != nil {
		return err
	}
	p.ops = listener
	p.onStop(func() error {
		_ = listener.Close() // the only possible error is that it is already closed
		return nil
	})
	return nil
}

// startOps starts to answer requests at OPS_PORT. startOps is called after all parts have started.
func (p *Process) startOps(context.Context) error {
	if p.ops == nil {
		return nil
	}
	p.OpsURL = findListenerURL(p.ops)
	server := &http.Server{Handler: opsHandler(p.parts, p.cfg.OpsToken), ReadHeaderTimeout: 10 * time.Second,
		ReadTimeout: time.Minute, WriteTimeout: time.Minute, IdleTimeout: time.Minute}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = server.Serve(p.ops) // Serve returns after Close
	}()
	p.onStop(func() error {
		err := server.Close()
		<-ended
		return err
	})
	return nil
}

// opsHandler answers the requests at OPS_PORT. The metrics require the token, unless it is "".
func opsHandler(parts []*part, token string) http.Handler {
	gatherers := make(prometheus.Gatherers, len(parts))
	for i, part := range parts {
		gatherers[i] = newLabelledGatherer(part)
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /livez", func(w http.ResponseWriter, _ *http.Request) {
		_, _ = fmt.Fprintf(w, "ok\nbuild %s\n", build.Version())
	})
	mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, r *http.Request) { serveReadiness(w, r, parts) })
	mux.Handle("GET /metrics", requireToken(token,
		promhttp.HandlerFor(gatherers, promhttp.HandlerOpts{ErrorHandling: promhttp.ContinueOnError})))
	return mux
}

// requireToken answers 401 to requests without the bearer token. If the token is "", all requests reach `next`.
func requireToken(token string, next http.Handler) http.Handler {
	if token == "" {
		return next
	}
	want := sha256.Sum256([]byte("Bearer " + token)) // hashes have equal lengths, so the comparison takes equal time
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		got := sha256.Sum256([]byte(r.Header.Get("Authorization")))
		if subtle.ConstantTimeCompare(got[:], want[:]) != 1 {
			w.Header().Set("WWW-Authenticate", `Bearer realm="metrics"`)
			http.Error(w, "send the token of OPS_TOKEN: Authorization: Bearer TOKEN", http.StatusUnauthorized)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// newLabelledGatherer returns the metrics of the given part. Each metric has the part's name as a label.
func newLabelledGatherer(part *part) prometheus.Gatherer {
	return prometheus.GathererFunc(func() ([]*dto.MetricFamily, error) {
		families, err := part.telemetry.Gatherer().Gather()
		for _, family := range families {
			for _, metric := range family.Metric {
				metric.Label = append(slices.Clone(metric.Label), &dto.LabelPair{Name: proto.String(serviceLabel),
					Value: proto.String(part.name)})
				slices.SortFunc(metric.Label, func(a, b *dto.LabelPair) int {
					return strings.Compare(a.GetName(), b.GetName())
				})
			}
		}
		return families, err
	})
}

// serveReadiness answers 200 if all parts are ready. Otherwise it answers 503 with one line for each part that is not
// ready.
func serveReadiness(w http.ResponseWriter, r *http.Request, parts []*part) {
	ctx, cancel := context.WithTimeout(r.Context(), 5*time.Second)
	defer cancel()
	problems := make([]string, len(parts))
	done := make(chan struct{})
	for i, part := range parts {
		go func() {
			defer func() { done <- struct{}{} }()
			if err := checkReady(ctx, part.srv.InternalAddr()); err != nil {
				problems[i] = part.name + ": " + strings.TrimSpace(err.Error())
			}
		}()
	}
	for range parts {
		<-done
	}
	problems = slices.DeleteFunc(problems, func(s string) bool { return s == "" })
	if len(problems) == 0 {
		_, _ = fmt.Fprintf(w, "ready\nzones %s\n", zone.Current())
		return
	}
	w.WriteHeader(http.StatusServiceUnavailable)
	_, _ = fmt.Fprintln(w, strings.Join(problems, "\n"))
}
