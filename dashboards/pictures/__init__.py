"""Pictures of the dashboards for the documents, drawn from the panels' own queries without Grafana."""
