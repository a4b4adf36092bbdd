"""Entities with Ray Data: `python annotate_ray.py MODEL INPUT OUTPUT`, with folders of Parquet."""

import sys

import ray
import ray.data

from spacy_cascade import Annotator


def annotate(model: str, source: str, target: str, actors: int = 2) -> None:
    """All nodes find the pipeline at the same path; each actor loads it once.

    An actor asks for half a core only: if actors had all cores, the files would never be read. Ray
    joins small files to blocks of up to 128 MB, and a block goes to one actor: so they are divided.
    """
    texts = ray.data.read_parquet(source).repartition(target_num_rows_per_block=8192)
    texts.map_batches(
        Annotator,
        fn_constructor_args=(model,),
        batch_format="pyarrow",
        batch_size=2048,
        zero_copy_batch=True,
        num_cpus=0.5,
        compute=ray.data.ActorPoolStrategy(size=actors),
    ).write_parquet(target)


if __name__ == "__main__":
    annotate(*sys.argv[1:4])
