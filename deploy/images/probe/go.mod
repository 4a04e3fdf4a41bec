module sluice.dev/probe

go 1.26.0
