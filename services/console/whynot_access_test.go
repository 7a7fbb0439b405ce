package console_test

// init lets each role that may book for customers ask why a time cannot be booked.
func init() { rowOfPage["GET /business/:slug/why-not"] = "book, move, cancel, sell" }
