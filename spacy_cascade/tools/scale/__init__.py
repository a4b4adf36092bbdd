"""Training whose loss is computed by workers: processes of one machine, or actors of a cluster."""
