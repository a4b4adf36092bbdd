"""The experiments; each runs as `python -m benchmarks.experiments.NAME`."""
