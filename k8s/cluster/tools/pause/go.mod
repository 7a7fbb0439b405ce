module github.com/slotmesh/slotmesh/k8s/cluster/tools/pause

go 1.26.0
