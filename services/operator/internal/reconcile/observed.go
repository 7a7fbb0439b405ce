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

// caughtUp is the delay before the retry after a conflict. It gives the cache time to catch up.
const caughtUp = time.Second

// Observed returns r with a metric: it counts reconciliations by kind and outcome (ok or failed). It does not
// count a conflict with a concurrent change of the object as failed, because the object is then reconciled again.
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
