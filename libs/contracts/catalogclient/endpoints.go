package catalogclient

import (
	"github.com/slotmesh/slotmesh/libs/contracts/endpoints"
	"github.com/slotmesh/slotmesh/libs/contracts/eventclient"
)

// API is the internal API of the catalog service.
var API = endpoints.NewAPI("catalog")

// Events are the endpoints for the events of the catalog service.
var Events = eventclient.Declare(API)
