package tools

import (
	"context"
	"fmt"
	"net/url"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/slotmesh/slotmesh/libs/contracts/publicapi"
	"github.com/slotmesh/slotmesh/services/mcp/internal/caller"
)

// staffList is the answer of list_staff.
type staffList struct {
	Staff      []member `json:"staff"`
	Total      int      `json:"total" jsonschema:"how many there are, on all pages"`
	NextOffset *int     `json:"next_offset" jsonschema:"offset of the next page; null on the last"`
}

// member is a staff member as /staff describes them, without HTML and translations.
type member struct {
	publicapi.StaffMember
	DescriptionHTML hiddenFields `json:"description_html,omitzero"`
	Bio             hiddenFields `json:"bio_translations,omitzero"`
}

func (b *Toolbox) staffTool() *tool {
	return &tool{
		Tool: mcp.Tool{
			Name:  "list_staff",
			Title: "Staff",
			Description: "The people who perform services: id, name, category, description. Call it where the " +
				"customer wants somebody in particular; with service_id it lists those who perform that service. " +
				"find_slots and book_appointment take an id as staff_id. Nobody has to be chosen: without staff_id " +
				"the first who is free is assigned.",
			InputSchema: inputSchema(
				optionalProperty("service_id",
					idSchema("A service's id from list_services: only those who perform it.")),
				localeProperty(), offsetProperty()),
			OutputSchema: outputSchema[staffList](),
			Annotations:  readAnnotations("Staff"),
		},
		scopes: readScopes,
		call:   b.listStaff,
	}
}

func (b *Toolbox) listStaff(ctx context.Context, who caller.Caller, args arguments) (result, error) {
	query := url.Values{}
	if err := copyArgument(query, "service_id", args.id, "service_id"); err != nil {
		return result{}, err
	}
	offset, err := args.listQuery(query)
	if err != nil {
		return result{}, err
	}
	var answer publicapi.StaffList
	if err := b.Catalog.Read(ctx, who.Slug, "staff", query, &answer); err != nil {
		return result{}, err
	}
	members := make([]member, len(answer.Staff))
	for i, m := range answer.Staff {
		m.Name, m.Category, m.Description = clipText(m.Name, maxName), clipText(m.Category, maxName),
			clipText(m.Description, maxDescription)
		m.ImageURL, m.StaffTranslations = clipText(m.ImageURL, maxDescription), nil
		members[i].StaffMember = m
	}
	p := pageOf(members, offset, 0)
	all := staffList{Staff: p.items, Total: p.total, NextOffset: p.next}
	return result{structured: all, text: all.text(p.note())}, nil
}

func (l *staffList) text(note string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d staff members.%s", l.Total, note)
	for _, m := range l.Staff {
		fmt.Fprintf(&b, "\n%s", m.Name)
		if m.Category != "" {
			fmt.Fprintf(&b, " (%s)", m.Category)
		}
		fmt.Fprintf(&b, ": id %s%s", m.ID, shortDescription(m.Description, len(l.Staff)))
	}
	return b.String()
}
