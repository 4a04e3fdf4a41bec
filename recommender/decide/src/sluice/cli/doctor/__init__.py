"""`sluice doctor` checks each stage of the flow and names the remedy for each finding."""
