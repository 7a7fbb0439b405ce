package console_test

// init adds the route of the page that explains why a time cannot be booked. Each role that may book for customers may
// read it.
func init() { rowOfPage["GET /business/:slug/why-not"] = "book, move, cancel, sell" }
