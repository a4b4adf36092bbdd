"""What training minimises: a cost for wrong labels, a prior, and their gradient."""
