package booking

import "github.com/google/uuid"

// MaxAddressChanges is the maximum number of places in [AddressChanges].
const MaxAddressChanges = 200

// AddressChanges are the places whose address a version of the offer changes.
type AddressChanges struct {
	Version int64           `json:"version,omitempty"` // not used to count customers
	Places  []AddressChange `json:"places"`
}

// AddressChange is a place of a business that has a new address.
type AddressChange struct {
	LocationID uuid.UUID `json:"location_id"`
	// IsDefault means that bookings without a location take place here.
	IsDefault     bool   `json:"is_default,omitempty"`
	FormerAddress string `json:"former_address,omitempty"` // on one line
}
