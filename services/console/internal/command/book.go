package command

import (
	"context"
	"net/http"

	"github.com/spf13/cobra"

	"github.com/slotmesh/slotmesh/libs/contracts/booking"
)

func (c *command) newBookCommand() *cobra.Command {
	var (
		newBooking struct {
			booking.NewBooking
			Notify *bool `json:"notify,omitempty"`
		}
		notify                        bool
		phone, staff, session, paying string
		staffing, language, location  string
		party                         int
		address                       booking.CustomerAddress
	)
	cmd := c.newBusinessCommand("book SLUG", "Book for a customer", 1,
		func(cmd *cobra.Command, args []string, client *client) error {
			newBooking.PartySize = &party
			if err := resolveBooking(cmd.Context(), client.newNameResolver(args[0]), &newBooking.NewBooking, &staff,
				&session, &location); err != nil {
				return err
			}
			newBooking.CustomerPhone, newBooking.StaffID, newBooking.ClassScheduleID = nilIfEmpty(phone),
				nilIfEmpty(staff),
				nilIfEmpty(session)
			newBooking.PaymentChoice, newBooking.StaffingMode, newBooking.Locale = nilIfEmpty(paying),
				nilIfEmpty(staffing),
				nilIfEmpty(language)
			newBooking.CustomerAddress = nilIfZero(address)
			newBooking.LocationID, newBooking.Notify = nilIfEmpty(location), newNotifyField(notify)
			var booked booking.Booking
			if err := client.call(cmd.Context(), http.MethodPost, buildPath(args[0], "bookings"), newBooking,
				&booked); err != nil {
				return err
			}
			warn(cmd, booked.Warnings)
			return c.print(booked, newBookingTable(booked))
		})
	cmd.Long = `Book for a customer, whatever notice, advance limit, pause and grid say; the booking's source is dashboard. A rule for customers that it
breaks is a warning. With --override also outside working hours; never what is taken.`
	cmd.Example = `  slotmesh bookings book harbor --service haircut --date 2027-03-01 --time 09:30 --customer "Ada Example" --email ada@example.com
  slotmesh bookings book harbor --service haircut --staff anna --date 2027-03-01 --time 22:15 --override \
    --customer "Ada Example" --email ada@example.com`
	flags := cmd.Flags()
	flags.StringSliceVar(&newBooking.ServiceIDs, "service", nil,
		"key, name or id of the service; several in the order they are performed")
	flags.StringVar(&newBooking.Date, "date", "", "date of the start, YYYY-MM-DD")
	flags.StringVar(&newBooking.Time, "time", "", "time of the start, HH:MM")
	flags.StringVar(&newBooking.CustomerName, "customer", "", "the customer's name")
	flags.StringVar(&newBooking.CustomerEmail, "email", "",
		"the customer's e-mail address; without one nothing is mailed to them")
	flags.StringVar(&phone, "phone", "", "the customer's telephone number")
	flags.StringVar(&language, "locale", "", "the customer's language, such as pt")
	flags.StringVar(&staff, "staff", "", "key, name or id of the member; whoever is free when left out")
	flags.StringSliceVar(&newBooking.Variants, "variant", nil,
		"SERVICE:VARIANT, keys, names or ids of a service and the variant that is booked")
	flags.IntVar(&party, "party", 1, "how many people; as many seats in a class")
	flags.StringVar(&session, "session", "", "key or id of the class session; the first with seats when left out")
	flags.BoolVar(&newBooking.IsPackage, "package", false, "the services are one package")
	flags.StringVar(&staffing, "staffing", "", "per_service: each service of the package by whoever is free")
	flags.StringVar(&paying, "pay", "", "online or at_door, where the business leaves the choice")
	flags.StringVar(&location, "location", "", "key or id of the location; the first that is possible when left out")
	addAddressFlags(cmd, &address)
	flags.BoolVar(&newBooking.Override, "override", false, "also outside working hours")
	addNotifyFlag(cmd, &notify)
	mustComplete(cmd, "pay", "online", "at_door")
	mustComplete(cmd, "staffing", "per_service")
	return mustRequire(cmd, "service", "date", "time", "customer")
}

// nilIfEmpty returns a pointer to `text`, the value of a flag. It returns nil if the value is "", so the request omits
// the field.
func nilIfEmpty(text string) *string {
	if text == "" {
		return nil
	}
	return &text
}

// nilIfZero returns a pointer to the address. It returns nil if no part is set, so the request omits the field.
func nilIfZero(address booking.CustomerAddress) *booking.CustomerAddress {
	if address == (booking.CustomerAddress{}) {
		return nil
	}
	return &address
}

// addAddressFlags adds the flags for the parts of the customer's address.
func addAddressFlags(cmd *cobra.Command, address *booking.CustomerAddress) {
	flags := cmd.Flags()
	flags.StringVar(&address.Street, "street", "", "street of the customer, if the business comes to the customer")
	flags.StringVar(&address.PostalCode, "postal-code", "", "postal code of the customer")
	flags.StringVar(&address.City, "city", "", "city of the customer")
	flags.StringVar(&address.Country, "country", "", "country of the customer, such as PT")
	flags.StringVar(&address.Note, "note", "", "how to find the customer")
}

// warn prints the warnings about a booking or reservation. Each warning is about a rule for customers that the booking
// or reservation breaks.
func warn(cmd *cobra.Command, warnings []booking.Warning) {
	for _, w := range warnings {
		cmd.PrintErrln("Warning: " + w.Message)
	}
}

// resolveBooking replaces the keys and names of services, variants, members, class sessions and locations in the flags
// of a booking by ids.
func resolveBooking(ctx context.Context, called *nameResolver, newBooking *booking.NewBooking,
	staff, session, location *string) error {
	if err := called.resolveAmong(ctx, "location", (*contents).listLocations, location); err != nil {
		return err
	}
	for i := range newBooking.ServiceIDs {
		if err := called.resolve(ctx, kindService, &newBooking.ServiceIDs[i]); err != nil {
			return err
		}
	}
	if err := called.resolveVariants(ctx, newBooking.Variants); err != nil {
		return err
	}
	return called.resolvePerson(ctx, staff, session)
}

// resolvePerson replaces the key or name in the argument `staff` by the id of the staff member. It replaces the key in
// the argument `session` by the id of the class session.
func (n *nameResolver) resolvePerson(ctx context.Context, staff, session *string) error {
	if err := n.resolve(ctx, kindMember, staff); err != nil {
		return err
	}
	return n.resolveAmong(ctx, "class session", (*contents).listSessions, session)
}

func (c *command) newRescheduleCommand() *cobra.Command {
	var (
		to struct {
			booking.Reschedule
			Notify *bool `json:"notify,omitempty"`
		}
		notify                   bool
		staff, session, location string
		address                  booking.CustomerAddress
	)
	cmd := c.newBusinessCommand("reschedule SLUG ID", "Move a booking to another time", 2,
		func(cmd *cobra.Command, args []string, client *client) error {
			names := client.newNameResolver(args[0])
			if err := names.resolvePerson(cmd.Context(), &staff, &session); err != nil {
				return err
			}
			if err := names.resolveAmong(cmd.Context(), "location", (*contents).listLocations, &location); err != nil {
				return err
			}
			to.StaffID, to.ClassScheduleID = nilIfEmpty(staff), nilIfEmpty(session)
			to.LocationID, to.Address = nilIfEmpty(location), nilIfZero(address)
			to.Notify = newNotifyField(notify)
			var moved booking.Booking
			if err := client.call(cmd.Context(), http.MethodPost, buildPath(args[0], "bookings", args[1], "reschedule"),
				to,
				&moved); err != nil {
				return err
			}
			warn(cmd, moved.Warnings)
			return c.print(moved, newBookingTable(moved))
		})
	cmd.Long = `Move a pending or confirmed booking to another time. State, price and payment stay. Without --staff it stays with its member where
that one is free, else whoever is takes it. What it holds is given back exactly when it has the new time; a refusal changes nothing.`
	cmd.Example = `  slotmesh bookings reschedule harbor 0190…a7 --date 2027-03-02 --time 10:15
  slotmesh bookings reschedule harbor 0190…a7 --date 2027-03-01 --time 18:20 --staff ben --override`
	flags := cmd.Flags()
	flags.StringVar(&to.Date, "date", "", "date of the new start, YYYY-MM-DD")
	flags.StringVar(&to.Time, "time", "", "time of the new start, HH:MM")
	flags.StringVar(&staff, "staff", "", "key, name or id of the member who takes it")
	flags.StringVar(&session, "session", "",
		"key or id of the class session; its own when left out, where that has seats")
	flags.StringVar(&location, "location", "", "key or id of the new location; its own when left out")
	addAddressFlags(cmd, &address)
	flags.BoolVar(&to.Override, "override", false, "also outside working hours")
	addNotifyFlag(cmd, &notify)
	return mustRequire(cmd, "date", "time")
}

func (c *command) newRelocateCommand() *cobra.Command {
	var (
		to struct {
			booking.Relocate
			Notify *bool `json:"notify,omitempty"`
		}
		notify  bool
		address booking.CustomerAddress
	)
	cmd := c.newBusinessCommand("relocate SLUG ID", "Change the location of a booking", 2,
		func(cmd *cobra.Command, args []string, client *client) error {
			if err := client.newNameResolver(args[0]).resolveAmong(cmd.Context(), "location", (*contents).listLocations,
				&to.LocationID); err != nil {
				return err
			}
			to.Notify, to.Address = newNotifyField(notify), nilIfZero(address)
			var relocated booking.Booking
			if err := client.call(cmd.Context(), http.MethodPost, buildPath(args[0], "bookings", args[1], "relocate"), to,
				&relocated); err != nil {
				return err
			}
			return c.print(relocated, newBookingTable(relocated))
		})
	cmd.Long = `Change the location of a pending or confirmed booking. Its time, price and payment stay. The booking keeps its staff
member if this member can be at the new location; otherwise another member who can takes it. A refusal changes nothing.`
	cmd.Example = `  slotmesh bookings relocate harbor 0190…a7 --location station`
	flags := cmd.Flags()
	flags.StringVar(&to.LocationID, "location", "", "key or id of the new location")
	addAddressFlags(cmd, &address)
	flags.BoolVar(&notify, "notify", true, "notify the customer")
	_ = cmd.MarkFlagRequired("location")
	return cmd
}
