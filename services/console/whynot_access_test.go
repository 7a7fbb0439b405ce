package console_test

// Who may book for customers may ask what keeps a time from being booked.
func init() { rowOfPage["GET /business/:slug/why-not"] = "book, move, cancel, sell" }
