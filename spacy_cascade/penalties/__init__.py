"""What training adds for large weights, whatever the data."""
