module github.com/slotmesh/slotmesh/k8s/e2e

go 1.26.0
