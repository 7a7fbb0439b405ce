module github.com/slotmesh/slotmesh/k8s/cluster/tools/crds

go 1.26.0

// Nothing here is built: these modules hold the custom resource definitions that the chart's shapes use (see ../../crds).
require (
	github.com/cloudnative-pg/cloudnative-pg v1.28.0
	github.com/kedacore/keda/v2 v2.20.2
	github.com/prometheus-operator/prometheus-operator v0.87.1
	istio.io/api v1.31.1
	sigs.k8s.io/gateway-api v1.4.1
)
