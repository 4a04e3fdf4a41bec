"""What the packages of the API share."""
