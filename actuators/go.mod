module sluice.dev/actuators

go 1.26

require (
	github.com/cenkalti/backoff/v5 v5.0.3
	github.com/go-openapi/jsonpointer v0.22.4
	github.com/go-viper/mapstructure/v2 v2.5.0
	github.com/prometheus/client_golang v1.23.2
	go.yaml.in/yaml/v3 v3.0.4
	google.golang.org/grpc v1.84.0
	google.golang.org/protobuf v1.36.12
	sluice.dev/api v0.0.0
)

require (
	github.com/beorn7/perks v1.0.1 // indirect
	github.com/cespare/xxhash/v2 v2.3.0 // indirect
	github.com/go-openapi/swag/jsonname v0.25.4 // indirect
	github.com/kr/text v0.2.0 // indirect
	github.com/munnerz/goautoneg v0.0.0-20191010083416-a7dc8b61c822 // indirect
	github.com/prometheus/client_model v0.6.2 // indirect
	github.com/prometheus/common v0.66.1 // indirect
	github.com/prometheus/procfs v0.16.1 // indirect
	go.yaml.in/yaml/v2 v2.4.2 // indirect
	golang.org/x/net v0.57.0 // indirect
	golang.org/x/sys v0.47.0 // indirect
	golang.org/x/text v0.40.0 // indirect
	google.golang.org/genproto/googleapis/rpc v0.0.0-20260706201446-f0a921348800 // indirect
	sluice.dev/handlers v0.0.0
)

replace sluice.dev/api => ../recommender/proto/go

replace sluice.dev/handlers => ./handlers/go
