package command

import (
	"errors"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/slotmesh/slotmesh/libs/contracts/notifications"
)

func (c *command) newWebhooksGroup() *cobra.Command {
	return newGroup("webhooks", "Look after a business's webhooks: what it is told of by HTTP",
		c.newCreateWebhookCommand(),
		c.newListWebhooksCommand(), c.newChangeWebhookCommand(),
		c.newDeleteWebhookCommand(), c.newRotateWebhookCommand(), c.newTestWebhookCommand(), c.newDeliveriesCommand(),
		c.newRetryDeliveryCommand(), c.newListenCommand())
}

func (c *command) newCreateWebhookCommand() *cobra.Command {
	var newWebhook notifications.NewWebhook
	cmd := c.newBusinessCommand("create SLUG --url URL", "Add an endpoint and show its secret, this once", 1,
		func(cmd *cobra.Command, args []string, client *client) error {
			var secretWebhook notifications.SecretWebhook
			if err := client.call(cmd.Context(), http.MethodPost, buildPath(args[0], "webhooks"), newWebhook,
				&secretWebhook); err != nil {
				return err
			}
			return c.print(secretWebhook, newSecretTable(secretWebhook))
		})
	cmd.Example = `  slotmesh webhooks create harbor --url https://example.com/hooks
  slotmesh webhooks create harbor --url https://example.com/hooks --events booking.created,booking.cancelled`
	cmd.Flags().StringVar(&newWebhook.URL, "url", "", "where events are sent to, by https")
	cmd.Flags().StringSliceVar(&newWebhook.Events, "events", []string{"*"},
		`types of events, separated by commas; "*" for all`)
	return mustRequire(cmd, "url")
}

func newSecretTable(secretWebhook notifications.SecretWebhook) table {
	return table{head: []string{"SECRET", "URL", "EVENTS", "ID"},
		rows: [][]string{{secretWebhook.Secret, secretWebhook.URL, strings.Join(secretWebhook.Events, ","),
			secretWebhook.ID.String()}}}
}

func (c *command) newListWebhooksCommand() *cobra.Command {
	cmd := newListEntriesCommand(c, "webhooks", "List endpoints, oldest first", nil,
		func(list []notifications.Webhook) any { return notifications.WebhookList{Webhooks: list} }, newWebhookTable)
	cmd.Example = "  slotmesh webhooks list harbor"
	return cmd
}

func newWebhookTable(list ...notifications.Webhook) table {
	t := table{head: []string{"ID", "URL", "EVENTS", "ACTIVE", "DISABLED", "CREATED"}}
	for _, w := range list {
		t.rows = append(t.rows, []string{w.ID.String(), w.URL, strings.Join(w.Events, ","),
			strconv.FormatBool(w.Active), w.DisabledReason, formatInstant(&w.CreatedAt)})
	}
	return t
}

func (c *command) newChangeWebhookCommand() *cobra.Command {
	var (
		address      string
		events       []string
		enable, stop bool
		yes, no      = true, false
	)
	cmd := c.newBusinessCommand("change SLUG ID", "Change an endpoint's URL or events, or switch it on or off", 2,
		func(cmd *cobra.Command, args []string, client *client) error {
			var change notifications.WebhookChange
			if cmd.Flags().Changed("url") {
				change.URL = &address
			}
			change.Events = events
			switch {
			case enable && stop:
				return errors.New("--enable and --disable: write one of them")
			case enable:
				change.Active = &yes
			case stop:
				change.Active = &no
			}
			var webhook notifications.Webhook
			if err := client.call(cmd.Context(), http.MethodPatch, buildPath(args[0], "webhooks", args[1]), change,
				&webhook); err != nil {
				return err
			}
			return c.print(webhook, newWebhookTable(webhook))
		})
	cmd.Example = `  slotmesh webhooks change harbor ID --events booking.created,booking.cancelled
  slotmesh webhooks change harbor ID --enable`
	flags := cmd.Flags()
	flags.StringVar(&address, "url", "", "where events are sent to from now on")
	flags.StringSliceVar(&events, "events", nil, `types of events from now on, separated by commas; "*" for all`)
	flags.BoolVar(&enable, "enable", false, "send to it, also after it was disabled")
	flags.BoolVar(&stop, "disable", false, "send nothing to it; what was still to be sent is given up")
	return cmd
}

func (c *command) newDeleteWebhookCommand() *cobra.Command {
	cmd := c.newBusinessCommand("delete SLUG ID", "Remove an endpoint and the log of what it was sent", 2,
		func(cmd *cobra.Command, args []string, client *client) error {
			if err := client.call(cmd.Context(), http.MethodDelete, buildPath(args[0], "webhooks", args[1]), nil,
				nil); err != nil {
				return err
			}
			return c.printDone(map[string]any{"id": args[1], "deleted": true}, "%s is deleted", args[1])
		})
	cmd.Example = "  slotmesh webhooks delete harbor ID"
	return cmd
}

func (c *command) newRotateWebhookCommand() *cobra.Command {
	cmd := c.newBusinessCommand("rotate SLUG ID",
		"Give an endpoint another secret and show it, this once; the old one signs too for 24 hours", 2,
		func(cmd *cobra.Command, args []string, client *client) error {
			var secretWebhook notifications.SecretWebhook
			if err := client.call(cmd.Context(), http.MethodPost, buildPath(args[0], "webhooks", args[1], "rotate"),
				nil,
				&secretWebhook); err != nil {
				return err
			}
			return c.print(secretWebhook, newSecretTable(secretWebhook))
		})
	cmd.Example = "  slotmesh webhooks rotate harbor ID"
	return cmd
}

func (c *command) newTestWebhookCommand() *cobra.Command {
	cmd := c.newBusinessCommand("test SLUG ID",
		"Send an event of type webhook.test to an endpoint; deliveries shows what became of it", 2,
		func(cmd *cobra.Command, args []string, client *client) error {
			return c.sendDelivery(cmd, client, buildPath(args[0], "webhooks", args[1], "test"))
		})
	cmd.Example = "  slotmesh webhooks test harbor ID"
	return cmd
}

func (c *command) newRetryDeliveryCommand() *cobra.Command {
	cmd := c.newBusinessCommand("retry SLUG DELIVERY", "Send a delivery again, whatever became of it", 2,
		func(cmd *cobra.Command, args []string, client *client) error {
			return c.sendDelivery(cmd, client, buildPath(args[0], "deliveries", args[1], "retry"))
		})
	cmd.Example = "  slotmesh webhooks retry harbor DELIVERY"
	return cmd
}

// sendDelivery sends a POST request to which the server responds by delivering a webhook. Then sendDelivery prints the
// delivery that the answer contains.
func (c *command) sendDelivery(cmd *cobra.Command, client *client, path string) error {
	var sent notifications.Delivery
	if err := client.call(cmd.Context(), http.MethodPost, path, nil, &sent); err != nil {
		return err
	}
	return c.print(sent, newDeliveryTable(sent))
}

func (c *command) newDeliveriesCommand() *cobra.Command {
	var status string
	cmd := c.newBusinessCommand("deliveries SLUG ID",
		"List what an endpoint was sent in the last 30 days, newest first", 2,
		func(cmd *cobra.Command, args []string, client *client) error {
			query := url.Values{}
			if status != "" {
				query.Set("status", status)
			}
			list, err := readPages[notifications.Delivery](cmd.Context(), client,
				buildPath(args[0], "webhooks", args[1], "deliveries"), "deliveries", query)
			if err != nil {
				return err
			}
			return c.print(notifications.DeliveryList{Deliveries: list}, newDeliveryTable(list...))
		})
	cmd.Example = `  slotmesh webhooks deliveries harbor ID --status failed
  slotmesh webhooks deliveries harbor ID -o json    # with each attempt and the beginning of its answer`
	cmd.Flags().StringVar(&status, "status", "", "those that are pending, delivered or failed only")
	mustComplete(cmd, "status", notifications.DeliveryPending, notifications.DeliveryDelivered,
		notifications.DeliveryFailed)
	return cmd
}

func newDeliveryTable(list ...notifications.Delivery) table {
	t := table{head: []string{"ID", "TYPE", "SUBJECT", "SEQUENCE", "STATUS", "ATTEMPTS", "LAST", "NEXT", "CREATED"}}
	for _, d := range list {
		t.rows = append(t.rows, []string{d.ID.String(), d.Type, d.Subject.Kind + " " + d.Subject.ID.String(),
			strconv.Itoa(d.Sequence), d.Status,
			strconv.Itoa(len(d.Attempts)), formatLastAnswer(d.Attempts), formatInstant(d.NextAt),
			formatInstant(&d.CreatedAt)})
	}
	return t
}

// formatLastAnswer returns the HTTP status of the last attempt, or the reason if the attempt got no answer.
func formatLastAnswer(attempts []notifications.DeliveryAttempt) string {
	if len(attempts) == 0 {
		return ""
	}
	last := attempts[len(attempts)-1]
	switch {
	case last.Status != nil:
		return strconv.Itoa(*last.Status)
	case last.Error != nil:
		return *last.Error
	}
	return ""
}
