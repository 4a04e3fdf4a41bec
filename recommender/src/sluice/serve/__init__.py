"""The server: a control loop that keeps an answer per pool, and gRPC that hands the answers out."""
