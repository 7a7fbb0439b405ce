//go:build race

package slot

const usualBusinesses = 3_000
