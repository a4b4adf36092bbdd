"""The figures of JNLPBA: accuracy, speed, memory and size, each of which runs alone."""
