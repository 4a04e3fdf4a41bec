"""`sluice replay`: reads recorded traces from files and sends them to the collector as OTLP over gRPC."""
