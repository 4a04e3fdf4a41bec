"""One control period: collect, decide, commit and publish, in this order."""
