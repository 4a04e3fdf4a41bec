package web

import (
	"crypto/rand"
	"encoding/hex"
	"net/http"
)

// Version is this program's, in the User-Agent; main sets it before anything is asked.
var Version = "development"

// RequestHeader is in every request of Sluice's: its value is 1.
const RequestHeader = "Sluice-Request"

// mark says that a request is Sluice's own, which is no load of the application that answers it:
//
//	User-Agent       sluice-actuator/VERSION, which spans have as user_agent.original: by it windows leave them out
//	Sluice-Request   1, for the filters of an instrumentation in the program itself
//	traceparent      a trace that is not sampled (W3C Trace Context, flags 00): samplers that go by their parent, as
//	                 OpenTelemetry's default does, make no span
func mark(header http.Header) {
	header.Set("User-Agent", "sluice-actuator/"+Version)
	header.Set(RequestHeader, "1")
	var id [24]byte
	rand.Read(id[:])
	id[0] |= 1 // an id of zeros alone is none
	id[16] |= 1
	header.Set("Traceparent", "00-"+hex.EncodeToString(id[:16])+"-"+hex.EncodeToString(id[16:])+"-00")
}
