module sluice.dev/bench/jolokia-targets

go 1.26.0
