// Package chart tests the slotmesh chart: what each supported shape renders, and which values the chart refuses.
// It also compares the chart's tables with the services' code, and its README with its values.
package chart
