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

// conflictPause is the delay before the retry after a conflict. During this
// time, the change that caused the conflict reaches the operator's cache.
const conflictPause = time.Second

// WithMetric returns a reconciler that calls `r` and counts the reconciliations by kind and outcome. The outcome is ok
// or failed. If another client changed the object at the same time (a conflict), the outcome is ok, because the object
// is reconciled again.
func WithMetric(kind string, counter metric.Int64Counter, r ctrlreconcile.Reconciler) ctrlreconcile.Reconciler {
	return ctrlreconcile.Func(func(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
		result, err := r.Reconcile(ctx, request)
		outcome := "ok"
		switch {
		case apierrors.IsConflict(err):
			result, err = ctrl.Result{RequeueAfter: conflictPause}, nil
		case err != nil:
			outcome = "failed"
		}
		counter.Add(ctx, 1, metric.WithAttributes(attribute.String("kind", kind), attribute.String("outcome", outcome)))
		return result, err
	})
}
