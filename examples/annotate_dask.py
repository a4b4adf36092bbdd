"""Entities with Dask: `python annotate_dask.py MODEL INPUT OUTPUT`, with folders of Parquet."""

import sys

import dask
import dask.dataframe as dd
import pandas as pd
import pyarrow as pa

from spacy_cascade import Annotator


def annotate(model: str, source: str, target: str) -> None:
    """All workers find the pipeline at the same path; each process loads it once."""
    annotator = Annotator(model)
    texts = dd.read_parquet(source)
    results = {name: pd.Series(dtype=object) for name in ("entities", "entities_error")}
    found = texts.map_partitions(annotator, meta=texts._meta.assign(**results))
    schema = pa.Schema.from_pandas(texts._meta, preserve_index=False)
    schema = schema.append(pa.field("entities", annotator.arrow_type()))
    schema = schema.append(pa.field("entities_error", pa.string()))
    found.to_parquet(target, schema=schema, write_index=False)


if __name__ == "__main__":
    with dask.config.set(scheduler="processes"):
        annotate(*sys.argv[1:4])
