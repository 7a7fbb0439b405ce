package notifications

import (
	"net/http"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/contracts/actor"
	"github.com/slotmesh/slotmesh/libs/contracts/customer"
	"github.com/slotmesh/slotmesh/libs/contracts/endpoints"
	"github.com/slotmesh/slotmesh/libs/platform/request"
)

// API is the internal API of the notifications service.
var API = endpoints.NewAPI("notifications")

const business = "/internal/businesses/:business"

var owner = endpoints.By{"console": {actor.Owner}}

// The endpoints of [API]. The methods of [Client] document the endpoints that they call.
var (
	SendMail = endpoints.Post[Mail, struct{}](API, "/internal/mails", endpoints.By{"console": {actor.System}})

	ListMessages = endpoints.Get[MessagesRequest, MessageList](API, business+"/messages", "console")
	ReadMessage  = endpoints.Get[MessageID, WholeMessage](API, business+"/messages/:id", "console")
	RetryMessage = endpoints.Post[MessageID, Message](API,
		business+"/messages/:id/retry", owner).Answers(http.StatusAccepted)
	PreviewMessage  = endpoints.Ask[ofBusiness[SampleMessage], MessagePreview](API, business+"/messages/preview", "console")
	SendTestMessage = endpoints.Post[ofBusiness[TestMessage], TestResult](API, business+"/messages/test", owner)

	CreateWebhook = endpoints.Post[ofBusiness[NewWebhook], SecretWebhook](API,
		business+"/webhooks", owner).Answers(http.StatusCreated)
	ListWebhooks  = endpoints.Get[PageRequest, WebhookList](API, business+"/webhooks", "console")
	ChangeWebhook = endpoints.Define[endpoints.With[WebhookID, WebhookChange], Webhook](API,
		http.MethodPatch, business+"/webhooks/:id", owner)
	DeleteWebhook = endpoints.Delete[WebhookID](API, business+"/webhooks/:id", owner)
	RotateWebhook = endpoints.Post[WebhookID, SecretWebhook](API, business+"/webhooks/:id/rotate", owner)
	TestWebhook   = endpoints.Post[WebhookID, Delivery](API,
		business+"/webhooks/:id/test", owner).Answers(http.StatusAccepted)

	ListDeliveries = endpoints.Get[DeliveriesRequest, DeliveryList](API, business+"/webhooks/:id/deliveries", "console")
	RetryDelivery  = endpoints.Post[DeliveryID, Delivery](API,
		business+"/deliveries/:id/retry", owner).Answers(http.StatusAccepted)

	SendSignInLink = endpoints.Post[SignInID, endpoints.None](API, business+"/customer-sign-ins/:id",
		endpoints.By{"pages": {actor.Page}}).Answers(http.StatusAccepted)

	EraseCustomer      = endpoints.Post[ofBusiness[Erase], Erased](API, business+"/customers/erase", owner)
	ExportCustomerData = endpoints.Ask[ofBusiness[customer.Of], CustomerData](API, business+"/customers/held",
		"console")
)

type ofBusiness[Body any] = endpoints.With[endpoints.OfBusiness, Body]

// MessageID identifies a message of a business.
type MessageID struct {
	Business uuid.UUID `path:"business"`
	ID       uuid.UUID `path:"id" unknown:"Message not found"`
}

// WebhookID identifies a webhook endpoint of a business.
type WebhookID struct {
	Business uuid.UUID `path:"business"`
	ID       uuid.UUID `path:"id" unknown:"Webhook not found"`
}

// DeliveryID identifies a delivery of an event to a webhook endpoint.
type DeliveryID struct {
	Business uuid.UUID `path:"business"`
	ID       uuid.UUID `path:"id" unknown:"Delivery not found"`
}

// PageRequest requests one page of a list of a business.
type PageRequest struct {
	Business uuid.UUID `path:"business"`
	Page     request.Page
}

// MessagesRequest requests one page of the messages of a business.
type MessagesRequest struct {
	PageRequest
	MessageFilter
}

// DeliveriesRequest requests one page of the deliveries to a webhook
// endpoint. Status selects the deliveries with one status; "" selects all.
type DeliveriesRequest struct {
	WebhookID
	Page   request.Page
	Status string `query:"status"`
}
