module sluice.dev/serve

go 1.26

require sluice.dev/api v0.0.0

replace sluice.dev/api => ../proto/go
