// Package e2e proves the chart and the images on a real cluster: what README.md beside it lists.
//
// It drives kubectl and helm, which are found in PATH, on the cluster of the kubeconfig that SLOTMESH_E2E_KUBECONFIG names. Without
// it, its tests are skipped: they install, kill and remove, and must never meet a cluster that KUBECONFIG happens to name.
// `make e2e` sets it.
package e2e
