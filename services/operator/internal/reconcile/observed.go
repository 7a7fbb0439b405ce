package reconcile

import (
	"context"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	ctrl "sigs.k8s.io/controller-runtime"
	ctrlreconcile "sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// caughtUp is how long a cache that was behind is given.
const caughtUp = time.Second

// Observed counts what a reconciler does, by kind, and ok or failed. An object that was changed meanwhile is no failure: it is looked at
// again as it is then.
func Observed(kind string, passes metric.Int64Counter, r ctrlreconcile.Reconciler) ctrlreconcile.Reconciler {
	return ctrlreconcile.Func(func(ctx context.Context, asked ctrl.Request) (ctrl.Result, error) {
		result, err := r.Reconcile(ctx, asked)
		outcome := "ok"
		switch {
		case apierrors.IsConflict(err):
			result, err = ctrl.Result{RequeueAfter: caughtUp}, nil
		case err != nil:
			outcome = "failed"
		}
		passes.Add(ctx, 1, metric.WithAttributes(attribute.String("kind", kind), attribute.String("outcome", outcome)))
		return result, err
	})
}
