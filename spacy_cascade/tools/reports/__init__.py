"""Reports on corpora, on a pipeline's mistakes, and on the reasons for what it found."""
