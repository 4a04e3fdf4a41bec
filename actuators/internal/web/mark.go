package web

import (
	"crypto/rand"
	"encoding/hex"
	"net/http"
)

// Version is this program's, in the User-Agent; main sets it before the first request.
var Version = "development"

// RequestHeader is in every request of Sluice; its value is 1.
const RequestHeader = "Sluice-Request"

// mark marks a request as Sluice's own, which is no load of the application:
//
//	User-Agent       sluice-actuator/VERSION, in spans user_agent.original: the windows leave such spans out
//	Sluice-Request   1, for the filters of an instrumentation in the program itself
//	traceparent      a trace that is not sampled (W3C Trace Context, flags 00): samplers that follow the parent, as
//	                 OpenTelemetry's default does, make no span
func mark(header http.Header) {
	header.Set("User-Agent", "sluice-actuator/"+Version)
	header.Set(RequestHeader, "1")
	var id [24]byte
	rand.Read(id[:])
	id[0] |= 1 // an id of zeros alone is invalid
	id[16] |= 1
	header.Set("Traceparent", "00-"+hex.EncodeToString(id[:16])+"-"+hex.EncodeToString(id[16:])+"-00")
}
