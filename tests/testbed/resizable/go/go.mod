module sluice.dev/testbed/resizable

go 1.24

require sluice.dev/handlers v0.0.0

require github.com/lib/pq v1.12.3

replace sluice.dev/handlers => ../../../../actuators/handlers/go
