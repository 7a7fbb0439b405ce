// Package e2e tests the chart and the images on a real cluster. README.md in this folder lists the tests.
//
// The tests run kubectl and helm from the PATH against the cluster of the kubeconfig in SLOTMESH_E2E_KUBECONFIG, which
// `make e2e` sets. Without this variable, the tests are skipped. They install and remove things in the cluster and kill
// pods. They therefore never use the cluster that KUBECONFIG happens to name.
package e2e
