"""The experiment of Sarawagi and Cohen (2004): chains and semi-Markov chains on few documents."""
