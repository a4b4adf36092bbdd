"""Every corpus of the suite × our systems × their peers: `python -m benchmarks.suite`."""
