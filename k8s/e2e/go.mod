module github.com/slotmesh/slotmesh/k8s/e2e

go 1.26.0

require go.yaml.in/yaml/v3 v3.0.6
