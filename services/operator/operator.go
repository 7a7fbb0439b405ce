// Package operator publishes businesses from Kubernetes objects. There are two kinds of objects: Business,
// whose spec is a manifest, and APIKey, which describes an API key that the operator stores in a Secret.
//
// The operator stores no state. The objects are the desired state, and the admin API returns the actual
// state. Package internal/reconcile changes the actual state with requests to the admin API. Package
// internal/definition generates the CustomResourceDefinitions of both kinds, which the chart installs.
//
// The internal port serves only probes and metrics. The public port has no paths.
package operator

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/util/workqueue"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	ctrlconfig "sigs.k8s.io/controller-runtime/pkg/client/config"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	ctrlreconcile "sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/slotmesh/slotmesh/libs/platform/config"
	"github.com/slotmesh/slotmesh/libs/platform/server"
	"github.com/slotmesh/slotmesh/libs/platform/service"
	"github.com/slotmesh/slotmesh/services/operator/internal/admin"
	"github.com/slotmesh/slotmesh/services/operator/internal/reconcile"
	v1 "github.com/slotmesh/slotmesh/services/operator/internal/v1"
)

// Config holds the settings of the operator. It has no setting for the Kubernetes API server. The operator uses the API
// server in KUBECONFIG. If KUBECONFIG is not set, it uses the API server of the cluster in which it runs.
type Config struct {
	Server server.Config
	// AdminURL is the base URL of the admin API, such as http://slotmesh-console:8080.
	AdminURL string `env:"SLOTMESH_SERVER, required"`
	// AdminToken is the operator's token for the admin API. During a token rotation, it
	// may be a list of tokens, separated by commas; the operator uses the first token.
	AdminToken string `env:"SLOTMESH_ADMIN_TOKEN, required" secret:"true"`
	// Namespaces are the namespaces in which the operator handles objects. The operator needs no permissions in other
	// namespaces.
	Namespaces []string `env:"OPERATOR_NAMESPACES, required"`
	// Resync is the time after which the operator compares an unchanged object with the published version again.
	Resync time.Duration `env:"OPERATOR_RESYNC, default=10m"`
	// AdminTimeout limits the time of one request to the admin API.
	AdminTimeout time.Duration `env:"OPERATOR_ADMIN_TIMEOUT, default=30s"`
}

// Validate checks all settings. Each error names its environment variable and never contains the token.
func (c *Config) Validate() error {
	errs := []error{c.Server.Validate()}
	if u, err := url.Parse(c.AdminURL); err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		errs = append(errs, errors.New("SLOTMESH_SERVER: write the base of the admin API, such as "+
			"http://slotmesh-console:8080"))
	}
	if err := config.CheckSecret(c.token(), 24); err != nil {
		errs = append(errs, fmt.Errorf("SLOTMESH_ADMIN_TOKEN: %w", err))
	}
	if c.Resync < time.Second {
		errs = append(errs, errors.New("OPERATOR_RESYNC: write a duration of a second or more, such as 10m"))
	}
	if c.AdminTimeout <= 0 {
		errs = append(errs, errors.New("OPERATOR_ADMIN_TIMEOUT: write a duration above 0, such as 30s"))
	}
	return errors.Join(errs...)
}

func (c *Config) token() string {
	token, _, _ := strings.Cut(c.AdminToken, ",")
	return token
}

// The delay before the retry of a failed reconciliation is minBackoff at first, and grows up to maxBackoff.
const (
	minBackoff = time.Second
	maxBackoff = 5 * time.Minute
)

// New returns the service, ready to run. New opens no connection.
func New(_ context.Context, cfg Config, rt server.Runtime) (*server.Server, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	cluster, err := ctrlconfig.GetConfig()
	if err != nil {
		return nil, err
	}
	return service.New(cfg.Server, rt, func(s *service.Service) error { return assemble(cfg, cluster, rt, s) })
}

// assemble adds the controllers of both kinds of objects to the service.
func assemble(cfg Config, cluster *rest.Config, rt server.Runtime, s *service.Service) error {
	log := rt.Telemetry.Logger
	ctrl.SetLogger(logr.FromSlogHandler(log.Handler()))
	scheme := runtime.NewScheme()
	if err := errors.Join(clientgoscheme.AddToScheme(scheme), v1.AddToScheme(scheme)); err != nil {
		return err
	}
	namespaces := map[string]cache.Config{}
	for _, name := range cfg.Namespaces {
		namespaces[name] = cache.Config{}
	}
	mgr, err := ctrl.NewManager(cluster, ctrl.Options{
		Scheme: scheme,
		Cache:  cache.Options{DefaultNamespaces: namespaces},
		// The manager opens no port for metrics, because the internal port of the service serves them.
		Metrics:                metricsserver.Options{BindAddress: "0"},
		HealthProbeBindAddress: "0",
	})
	if err != nil {
		return err
	}
	api := admin.New(strings.TrimSuffix(cfg.AdminURL, "/"), cfg.token(), cfg.AdminTimeout)
	s.OnStop("admin API", func(context.Context) error { api.Close(); return nil })
	reconciles := rt.Telemetry.Counter("slotmesh.operator.reconciles",
		"Reconciled objects, by kind and outcome.")
	businesses := &reconcile.Businesses{
		Client: mgr.GetClient(), Events: mgr.GetEventRecorder("slotmesh-operator"), Admin: api, Log: log,
		Resync: cfg.Resync,
	}
	keys := &reconcile.APIKeys{
		Client: mgr.GetClient(), Secrets: mgr.GetAPIReader(), Events: businesses.Events, Admin: api, Clock: rt.Clock,
		Log: log, Resync: cfg.Resync,
	}
	if err := errors.Join(
		addBusinessController(mgr, reconcile.WithMetric("Business", reconciles, businesses)),
		addKeyController(mgr, reconcile.WithMetric("APIKey", reconciles, keys)),
	); err != nil {
		return err
	}
	s.Go("controllers", mgr.Start)
	return nil
}

// specChanges selects the changes of the spec and of the annotations.
// It ignores the status, which only the operator changes.
var specChanges = builder.WithPredicates(predicate.Or(predicate.GenerationChangedPredicate{},
	predicate.AnnotationChangedPredicate{}))

func addBusinessController(mgr ctrl.Manager, r ctrlreconcile.Reconciler) error {
	return ctrl.NewControllerManagedBy(mgr).For(&v1.Business{},
		specChanges).WithOptions(newControllerOptions()).Complete(r)
}

// addKeyController adds the controller of APIKey objects. When a Business object changes, for example when it is
// published, the controller also reconciles the keys of that business.
func addKeyController(mgr ctrl.Manager, r ctrlreconcile.Reconciler) error {
	findKeys := func(ctx context.Context, b client.Object) []ctrlreconcile.Request {
		var keys v1.APIKeyList
		if err := mgr.GetClient().List(ctx, &keys, client.InNamespace(b.GetNamespace())); err != nil {
			mgr.GetLogger().Error(err, "listing the keys of a business failed", "name", b.GetName())
			return nil // not an error, because every key is reconciled again after Resync
		}
		var requests []ctrlreconcile.Request
		for i := range keys.Items {
			if keys.Items[i].Spec.Business == b.GetName() {
				requests = append(requests,
					ctrlreconcile.Request{NamespacedName: client.ObjectKeyFromObject(&keys.Items[i])})
			}
		}
		return requests
	}
	return ctrl.NewControllerManagedBy(mgr).For(&v1.APIKey{}, specChanges).
		Watches(&v1.Business{},
			handler.EnqueueRequestsFromMapFunc(findKeys)).WithOptions(newControllerOptions()).Complete(r)
}

// newControllerOptions returns controller options with exponential backoff between retries.
func newControllerOptions() controller.Options {
	return controller.Options{RateLimiter: workqueue.NewTypedItemExponentialFailureRateLimiter[ctrlreconcile.Request](minBackoff, maxBackoff)}
}
