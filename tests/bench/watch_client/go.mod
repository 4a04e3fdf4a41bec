module sluice.dev/bench/watch_client

go 1.26

require (
	golang.org/x/sys v0.47.0
	google.golang.org/grpc v1.84.0
	sluice.dev/api v0.0.0
)

require (
	golang.org/x/net v0.57.0 // indirect
	golang.org/x/text v0.40.0 // indirect
	google.golang.org/genproto/googleapis/rpc v0.0.0-20260706201446-f0a921348800 // indirect
	google.golang.org/protobuf v1.36.12 // indirect
)

replace sluice.dev/api => ../../../recommender/proto/go
