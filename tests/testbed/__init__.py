"""A discrete-event model of microservice applications, whose spans behave as those of real tracing agents."""
