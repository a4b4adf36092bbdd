"""Annotation of many texts: a callable for data engines, and files to files on all cores.

`annotator.Annotator` annotates a batch; `run.annotate_files` plans shards of the input and lets an
engine run them, each read, annotated and written by one process.
"""
