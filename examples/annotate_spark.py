"""Entities with Spark: `python annotate_spark.py MODEL INPUT OUTPUT`, with folders of Parquet."""

import os
import sys
from collections.abc import Iterator

import pandas as pd
from pyspark.sql import SparkSession
from pyspark.sql.types import (
    ArrayType,
    DoubleType,
    IntegerType,
    StringType,
    StructField,
    StructType,
)

from spacy_cascade import Annotator

# Else workers are the first `python3` of the PATH, not that of a virtual environment.
os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
ENTITY = StructType(
    [
        StructField("start", IntegerType()),
        StructField("end", IntegerType()),
        StructField("label", StringType()),
        StructField("kb_id", StringType()),
        StructField("confidence", DoubleType()),
    ]
)
RESULTS = [StructField("entities", ArrayType(ENTITY)), StructField("entities_error", StringType())]


def annotate(spark: SparkSession, model: str, source: str, target: str) -> None:
    """All workers find the pipeline at the same path; each Python process loads it once."""
    annotator = Annotator(model)

    def entities(batches: Iterator[pd.DataFrame]) -> Iterator[pd.DataFrame]:
        yield from map(annotator, batches)

    texts = spark.read.parquet(source)
    texts.mapInPandas(entities, StructType([*texts.schema, *RESULTS])).write.parquet(target)


if __name__ == "__main__":
    annotate(SparkSession.builder.getOrCreate(), *sys.argv[1:4])
