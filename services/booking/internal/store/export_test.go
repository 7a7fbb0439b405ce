package store

// OccupiedSQL lets tests explain the statement with which Occupied reads.
var OccupiedSQL = occupiedSQL
