"""What all experiments share: processes, clocks, corpora, training and scoring."""
