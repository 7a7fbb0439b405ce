package console_test

import "maps"

// init adds the routes of the pages below Settings to rowOfPage.
func init() {
	maps.Copy(rowOfPage, map[string]string{
		"GET /business/:slug/settings":                       "sign in",
		"GET /business/:slug/offer/words":                    "keys, webhooks, calendars",
		"POST /business/:slug/offer/words":                   "keys, webhooks, calendars",
		"GET /business/:slug/offer/words/preview":            "keys, webhooks, calendars",
		"POST /business/:slug/offer/words/preview":           "keys, webhooks, calendars",
		"POST /business/:slug/offer/words/test":              "keys, webhooks, calendars",
		"GET /business/:slug/settings/keys":                  "keys, webhooks, calendars",
		"POST /business/:slug/settings/keys":                 "keys, webhooks, calendars",
		"POST /business/:slug/settings/keys/:id/revoke":      "keys, webhooks, calendars",
		"GET /business/:slug/settings/feeds":                 "keys, webhooks, calendars",
		"POST /business/:slug/settings/feeds":                "keys, webhooks, calendars",
		"POST /business/:slug/settings/feeds/:id/remove":     "keys, webhooks, calendars",
		"GET /business/:slug/settings/embed":                 "keys, webhooks, calendars",
		"GET /business/:slug/settings/agents":                "keys, webhooks, calendars",
		"GET /business/:slug/settings/webhooks":              "keys, webhooks, calendars",
		"POST /business/:slug/settings/webhooks":             "keys, webhooks, calendars",
		"GET /business/:slug/settings/webhooks/:id":          "keys, webhooks, calendars",
		"POST /business/:slug/settings/webhooks/:id":         "keys, webhooks, calendars",
		"POST /business/:slug/settings/webhooks/:id/test":    "keys, webhooks, calendars",
		"POST /business/:slug/settings/webhooks/:id/pause":   "keys, webhooks, calendars",
		"POST /business/:slug/settings/webhooks/:id/resume":  "keys, webhooks, calendars",
		"POST /business/:slug/settings/webhooks/:id/rotate":  "keys, webhooks, calendars",
		"POST /business/:slug/settings/webhooks/:id/remove":  "keys, webhooks, calendars",
		"POST /business/:slug/settings/deliveries/:id/retry": "keys, webhooks, calendars",
	})
}
