"""`sluice replay`: recorded traces, read from files and sent to the collector as OTLP over gRPC."""
