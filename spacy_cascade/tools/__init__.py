"""What is done with corpora and pipelines from outside: each folder can be taken away."""
