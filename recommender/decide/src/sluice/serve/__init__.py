"""gRPC: hands out the answers that the control loop keeps, and takes reports."""
