package command

import (
	"net/http"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/slotmesh/slotmesh/libs/contracts/manifest"
	"github.com/slotmesh/slotmesh/libs/contracts/notifications"
)

func (c *command) newMessagesGroup() *cobra.Command {
	return newGroup("messages", "Look at what customers and owners were mailed, or would have been, and send it again",
		c.newListMessagesCommand(), c.newShowMessageCommand(), c.newRetryMessageCommand(),
		c.newTestMessageCommand())
}

func (c *command) newListMessagesCommand() *cobra.Command {
	var status, kind, about string
	cmd := newListEntriesCommand(c, "messages", "List messages, newest first",
		map[string]*string{"status": &status, "kind": &kind, "about": &about},
		func(list []notifications.Message) any { return notifications.MessageList{Messages: list} }, newMessageTable)
	cmd.Example = `  slotmesh messages list harbor --status failed
  slotmesh messages list harbor --kind booking_confirmed -o json`
	cmd.Flags().StringVar(&status, "status", "",
		"those that are not_sent (there is no mail server, or it is a sandbox), queued, held (by a limit), sent or "+
			"failed only")
	cmd.Flags().StringVar(&kind, "kind", "",
		"those of one kind only, such as booking_confirmed, reminder or owner_notice")
	cmd.Flags().StringVar(&about, "about", "",
		"those about one booking, order of tickets or reservation only, by its id")
	mustComplete(cmd, "status", notifications.MessageStatuses()...)
	return cmd
}

func newMessageTable(list ...notifications.Message) table {
	t := table{head: []string{"ID", "KIND", "TO", "SUBJECT", "STATUS", "ATTEMPTS", "REASON", "CREATED", "SENT"}}
	for _, m := range list {
		t.rows = append(t.rows, []string{m.ID.String(), m.Kind, m.Recipient, m.Subject, m.Status,
			strconv.Itoa(m.Attempts), m.Reason, formatInstant(&m.CreatedAt), formatInstant(m.SentAt)})
	}
	return t
}

func (c *command) newShowMessageCommand() *cobra.Command {
	cmd := c.newBusinessCommand("show SLUG ID", "Show a message as it is read", 2,
		func(cmd *cobra.Command, args []string, client *client) error {
			var m notifications.WholeMessage
			if err := client.call(cmd.Context(), http.MethodGet, buildPath(args[0], "messages", args[1]), nil,
				&m); err != nil {
				return err
			}
			if c.output == jsonFormat || c.output == yamlFormat {
				return c.print(m, table{})
			}
			return c.write([]byte(formatMessage(m)))
		})
	cmd.Example = `  slotmesh messages show harbor ID
  slotmesh messages show harbor ID -o json    # with its HTML and its calendar`
	return cmd
}

// formatMessage formats a message for the terminal: its header fields, its status and its body. It replaces unprintable
// characters in every line, because the message contains texts from customers.
func formatMessage(m notifications.WholeMessage) string {
	head := [][2]string{
		{"To", m.Recipient}, {"From", m.FromName}, {"Reply-To", m.ReplyTo}, {"Subject", m.Subject}, {"Kind", m.Kind},
		{"About", m.About.Kind + " " + m.About.ID.String()},
		{"Status", m.Status}, {"Reason", m.Reason}, {"Created", formatInstant(&m.CreatedAt)},
		{"Sent", formatInstant(m.SentAt)},
	}
	var out strings.Builder
	for _, line := range head {
		if line[1] != "" {
			out.WriteString(line[0] + ": " + printable(line[1]) + "\n")
		}
	}
	out.WriteString("\n")
	for line := range strings.Lines(m.Text) {
		out.WriteString(printable(strings.TrimRight(line, "\r\n")) + "\n")
	}
	return out.String()
}

func (c *command) newRetryMessageCommand() *cobra.Command {
	cmd := newTransitionCommand(c, "messages", "retry", "Send a message that failed, or was not sent, once more",
		newMessageTable)
	cmd.Example = "  slotmesh messages retry harbor ID"
	return cmd
}

func (c *command) newTestMessageCommand() *cobra.Command {
	var sample notifications.SampleMessage
	cmd := c.newBusinessCommand("test SLUG --kind KIND", "Mail yourself a message with sample data, marked as a test", 1,
		func(cmd *cobra.Command, args []string, client *client) error {
			var result notifications.TestResult
			if err := client.call(cmd.Context(), http.MethodPost, buildPath(args[0], "messages", "test"), sample,
				&result); err != nil {
				return err
			}
			return c.print(result, table{head: []string{"TO", "SUBJECT", "STATUS", "REASON"},
				rows: [][]string{{result.Recipient, result.Subject, result.Status, result.Reason}}})
		})
	cmd.Example = `  slotmesh messages test harbor --kind booking_confirmed
  slotmesh messages test harbor --kind reminder --language pt`
	cmd.Flags().StringVar(&sample.Kind, "kind", "", "the kind of message, such as booking_confirmed or reminder")
	cmd.Flags().StringVar(&sample.Language, "language", "",
		"one of the business's languages; without it, its default language")
	mustComplete(cmd, "kind", manifest.MessageKinds()...)
	return mustRequire(cmd, "kind")
}
