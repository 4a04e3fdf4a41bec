"""A real Tomcat on PostgreSQL whose CPU limit is scaled under a bursty load, alone and beside Sluice, in real time.

The limit is that of a control group of Tomcat's process, 0.3 to 0.8 of a core, and moves by the rule of Kubernetes'
HPA. The whole stack of `make up` is beside it in every run: collector, Kafka, Flink, ClickHouse, decider, server,
actuator. Where hardware is alone the actuator reads and reports, and applies nothing. Tomcat and PostgreSQL have one
core, all else the other.
"""
