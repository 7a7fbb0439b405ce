// Package e2e tests the whole of Slotmesh as its users use it: over HTTP, through the front, with real stores.
package e2e
