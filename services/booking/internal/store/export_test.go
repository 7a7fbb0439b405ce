package store

// OccupiedSQL lets a test look at the plan of what is really asked.
var OccupiedSQL = occupiedSQL
