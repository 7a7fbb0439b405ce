//go:build !race

package slot

const usualBusinesses = 100_000
