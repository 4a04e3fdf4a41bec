module sluice.dev/bench/watch_client

go 1.26

require (
	golang.org/x/net v0.57.0
	golang.org/x/sys v0.47.0
	google.golang.org/protobuf v1.36.12
)

require golang.org/x/text v0.40.0 // indirect
