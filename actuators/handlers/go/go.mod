module sluice.dev/handlers

go 1.24
