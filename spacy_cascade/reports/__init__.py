"""What a pipeline gets right and wrong, and the page that shows it."""
