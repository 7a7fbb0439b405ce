// Package e2e tests the chart and the images on a real cluster. README.md in this folder lists the tests.
//
// It runs kubectl and helm from PATH against the cluster of the kubeconfig in SLOTMESH_E2E_KUBECONFIG,
// which `make e2e` sets. Without this variable the tests are skipped. They install, kill and remove
// things, so they must never use the cluster that KUBECONFIG happens to name.
package e2e
